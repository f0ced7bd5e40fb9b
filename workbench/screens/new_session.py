"""A new session: the form, and the acts that start it, by the same steps as `pike run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from workbench import form_values, run_line
from workbench import messages as m
from workbench.actions import Where, bindings
from workbench.beginning import Begun, begin
from workbench.errors import WorkbenchError
from workbench.screens.session_form import SessionForm
from workbench.widgets.form_lines import StartButton
from workbench.widgets.frame import Banner

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.form_looks import Looker
    from workbench.form_values import Values


class NewSessionScreen(SessionForm):
    """Starts a session, or says at which field it cannot."""

    WHERE: ClassVar = Where.NEW
    BINDINGS: ClassVar = bindings(Where.NEW)

    def __init__(
        self, under: Path, draft: Values | None = None, looker: Looker | None = None
    ) -> None:
        super().__init__(under, draft, looker)
        self._begins = False

    def action_start(self) -> None:
        """Check everything, write the session, start its engine; refusals come back to their fields."""
        (self.focused or self).call_later(self._start)  # after the letters that wait for the field

    def _start(self) -> None:
        if self._begins or self.before is None:
            return
        at = [""]
        try:
            wish, typed = form_values.read(self.values(), self.before.settings, at.append)
        except WorkbenchError as error:
            self._ended(Begun(field=at[-1], why=str(error)))
            return
        self._begins = True
        self.query_one(StartButton).say("checking …")
        self.query_one("#banner", Banner).say("")
        self.run_worker(
            lambda: self.call_later(self._ended, begin(wish, typed)),
            thread=True,
            group="begin",
            exit_on_error=False,
        )

    def _ended(self, found: Begun) -> None:
        self._begins = False
        self.query_one(StartButton).say("")
        if found.folder is None:
            self.refuse(found.field, found.why, go=True)
            return
        self.pike.new_session_draft = {}
        for warning in found.warnings:
            self.tell(warning)
        self.pike.show_begun(found.folder)
        if found.why:
            told = f"{found.folder.name} was made, but its engine did not start: {found.why}"
            self.pike.screen.post_message(m.Failed(told))

    def action_copy_line(self) -> None:
        """Copy the `pike run` line that starts the same session."""
        if self.before is None:
            return
        at = [""]
        try:
            wish, typed = form_values.read(self.values(), self.before.settings, at.append)
        except WorkbenchError as error:
            self.refuse(at[-1], str(error), go=True)
            return
        self.pike.copy_text(run_line.line(wish, typed), "pike run …")

    def action_fold(self) -> None:
        """Show the advanced fields, or fold them away."""
        self.unfold(is_open=not self.has_class("-advanced"))

    def action_back(self) -> None:
        """Go back; what was typed is there again next time."""
        if self.before is not None:
            self.pike.new_session_draft = self.values()
        self.pike.pop_screen()
