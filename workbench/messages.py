"""The Textual messages by which widgets tell screens what a person did, and workers what they found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from textual.widget import Widget

    from sessions.model import State
    from workbench.widgets.detail import Wanted
    from workbench.widgets.document import Document
    from workbench.widgets.session_rows import SessionRow


class CursorMoved(Message):
    """The cursor of a list stands on another row."""

    def __init__(self, source: Widget, key: str) -> None:
        super().__init__()
        self.source = source
        self.key = key


class RowOpened(Message):
    """A row was opened, by enter or by the mouse."""

    def __init__(self, source: Widget, key: str) -> None:
        super().__init__()
        self.source = source
        self.key = key


class TabChosen(Message):
    """Another tab of the detail pane is wanted."""

    def __init__(self, tab: str) -> None:
        super().__init__()
        self.tab = tab


class ActWanted(Message):
    """An act was clicked at the foot of the screen, or chosen in the palette."""

    def __init__(self, act_id: str) -> None:
        super().__init__()
        self.act_id = act_id


class StateLoaded(Message):
    """A journal was read and folded for the first time."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state


class DocumentReady(Message):
    """What a tab shows was built."""

    def __init__(self, key: Wanted, document: Document) -> None:
        super().__init__()
        self.key = key
        self.document = document


class SessionsRead(Message):
    """The session folders were looked at."""

    def __init__(self, rows: list[SessionRow]) -> None:
        super().__init__()
        self.rows = rows


class SteerPicked(Message):
    """A steer of the list is to be withdrawn or edited."""

    def __init__(self, key: str, act: str) -> None:
        super().__init__()
        self.key = key
        self.act = act


class SteerAsked(Message):
    """A steer was written into the journal, or could not be."""

    def __init__(self, act: str, command: int, why: str = "") -> None:
        super().__init__()
        self.act = act
        self.command = command
        """Its id; 0 if it was not written."""
        self.why = why
        """Why it was not."""


class FieldChanged(Message):
    """Something else was chosen or typed in a field of a form."""

    def __init__(self, field: str, value: str) -> None:
        super().__init__()
        self.field = field
        self.value = value


class DiffWanted(Message):
    """The diff is wanted with more or less around it, or with white space the other way."""

    def __init__(self, by: int = 0, *, whitespace: bool = False) -> None:
        super().__init__()
        self.by = by
        self.whitespace = whitespace


class PagerWanted(Message):
    """A text is to be shown whole, by the person's pager."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Failed(Message):
    """Something a person asked for did not work; stays in the banner until settled."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what


class Told(Message):
    """Something merely happened; shown for a few seconds."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what
