"""The form of a new session: the flags of `pike run`, prefilled; what stands ready, what it will cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from textual.containers import Container, Horizontal, VerticalScroll
from textual.content import Content

from workbench import form_values
from workbench import messages as m
from workbench.actions import Where
from workbench.beginning import words
from workbench.form_looks import Around, Before, Looked, Looker
from workbench.form_values import Values, prefilled
from workbench.model_choice import catalog
from workbench.plain import Inert, inert_line
from workbench.screens.pike_screen import PikeScreen
from workbench.suggestions import files, is_path, models, strategies, strategy_settings
from workbench.widgets.chooser import Chooser
from workbench.widgets.form_lines import Fold, StartButton, check_lines, expected_lines
from workbench.widgets.frame import Banner, KeysLine
from workbench.widgets.lines import Span, wrap
from workbench.widgets.painted import Lines
from workbench.widgets.suggested_field import SuggestedField

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.timer import Timer

    from workbench.suggestions import Option

BY_SETTINGS = ("strategy", "queries", "cost", "time", "device")
"""Left empty, they are what the settings say."""
T = TypeVar("T")
PAUSE_S = 0.3
"""Nothing is looked at while somebody types."""
CHOICES = {
    "precision": ("half", "tf32", "fp32"),
    "tolerance": ("budget", "paper"),
    "sandbox": ("best-effort", "strict"),
}


class SessionForm(PikeScreen):
    """The fields, and what is shown beside what is typed."""

    CSS_PATH = "../styles/new_session.tcss"
    AUTO_FOCUS = "#field-task Input"

    def __init__(
        self, under: Path, draft: Values | None = None, looker: Looker | None = None
    ) -> None:
        super().__init__()
        self._under = under
        self._draft = draft or {}
        self._looker = looker or Looker()
        self.before: Before | None = None
        self._around = Around()
        self._timer: Timer | None = None
        self._refused: set[str] = set()
        """Fields refused by looking; a refused start stays until its field changes."""

    def compose(self) -> ComposeResult:
        """Lay out the form."""
        with Container(id="body"):
            yield Banner(id="banner")
            with VerticalScroll(id="form", classes="frame", can_focus=False) as form:
                form.border_title = Content("New session")
                yield _field("task", "Task", "a file's path, or starter/softmax; down lists")
                yield _field("strategy", "Strategy")
                yield _field("set", "Settings", "width=5 fixes=2; down lists", between=" ")
                yield _field("model", "Model COA", "down lists")
                yield _field("ideas_model", "  IBA", "same as COA")
                yield _field("fix_model", "  EFA", "same as COA, or CHEAP,DEAR", between=",")
                with Horizontal(id="budget"):
                    yield _field("queries", "Queries")
                    yield _field("cost", "dollars")
                    yield _field("time", "hours")
                yield _field("device", "Device")
                yield _chooser("precision", "Precision")
                yield _field("name", "Name", "the task's, and a counter")
                yield Fold("More", "seed, tolerance, sandbox, from, instructions, notify, python")
                with Container(id="advanced"):
                    yield _field("seed", "Seed", "drawn, and recorded")
                    yield _chooser("tolerance", "Tolerance")
                    yield _chooser("sandbox", "Sandbox")
                    yield _field("from", "From", "a file, or SESSION:c12")
                    yield _field("instructions", "Instruct", "a file for every prompt")
                    yield _field("notify", "Notify", "a command: done, or needs you")
                    yield _field("python", "Python", "another environment's torch")
                yield Lines(id="expected")
                yield Lines(id="checks")
                yield StartButton()
        yield KeysLine(Where.NEW, id="keys")
        yield Lines(id="too-small")

    def on_mount(self) -> None:
        """Read settings and earlier sessions; then look at the machine."""
        self._show(Looked("…"))
        self._in_thread("before", lambda: self._looker.before(self._under), self._fill)

    def _in_thread(self, group: str, find: Callable[[], T], put: Callable[[T], None]) -> None:
        """Find something off the event loop, then show it; what goes wrong is told, not swallowed."""

        def work() -> None:
            try:
                found = find()
            except Exception as error:  # noqa: BLE001 - the boundary of a worker of the viewer
                self.post_message(m.Failed(words(error)))
            else:
                self.call_later(put, found)

        self.run_worker(work, thread=True, exclusive=True, group=group, exit_on_error=False)

    def _fill(self, found: Before) -> None:
        """Put the first values in; what was typed meanwhile stays."""
        self.before = found
        for name, value in {**prefilled(found.settings, found.last), **self._draft}.items():
            self._put(name, value)
        for name in BY_SETTINGS:
            self.field(name).input.placeholder = inert_line(form_values.text(found.settings, name))
        known = catalog(found.settings.models)
        self._offer(("model", "ideas_model", "fix_model"), models(known, found.labels))
        self._offer(("strategy",), strategies())
        self._look_around()
        if not self.field("task").value:
            self.field("task").offer()

    def _put(self, name: str, value: str) -> None:
        if name in CHOICES:
            self.query_one(f"#{name}", Chooser).choose_value(value)
        elif not self.field(name).value:
            self.field(name).put(value)

    def _offer(self, names: Sequence[str], options: Sequence[Option]) -> None:
        for name in names:
            self.field(name).options = options

    def field(self, name: str) -> SuggestedField:
        """Return a field."""
        return self.query_one(f"#field-{name}", SuggestedField)

    def values(self) -> Values:
        """Return what the form says."""
        typed = {field.field: field.value for field in self.query(SuggestedField)}
        return typed | {name: self.query_one(f"#{name}", Chooser).value for name in CHOICES}

    # --- looking, off the event loop

    def _look_around(self) -> None:
        python = self.values()["python"].strip()
        self._in_thread("around", lambda: self._looker.around(python), self._found)

    def _found(self, there: Around) -> None:
        self._around = there
        task = self.field("task")
        task.options = there.tasks
        task.look = lambda typed: files(typed) if is_path(typed) else None
        self._offer(("device",), there.devices)
        if task.has_focus_within and not task.value:
            task.offer()
        if there.trouble:
            self.post_message(m.Failed(there.trouble))
        self._look()

    def _look(self) -> None:
        known, there, values = self.before, self._around, self.values()
        self._offer(("set",), strategy_settings(values["strategy"].strip()))
        if known is None:
            return
        self._in_thread("look", lambda: self._looker.look(values, known, there), self._show)

    def _show(self, found: Looked) -> None:
        width = max(30, self.size.width - 6)
        self.query_one("#expected", Lines).set_lines(expected_lines(found.expected, width))
        self.query_one("#checks", Lines).set_lines(check_lines(found.checks, width))
        for name, note in found.notes.items():
            self.field(name).say(inert_line(note, 120))
        refused = {n: w for n, w in found.refusals.items() if not self._is_typed_in(n)}
        for name in self._refused - set(refused):
            self.refuse(name, "")
        for name, why in refused.items():
            self.refuse(name, why)
        self._refused = set(refused)

    def _is_typed_in(self, name: str) -> bool:
        """Return whether a field has the keys: half a word is not refused."""
        return any(f.field == name and f.has_focus_within for f in self.query(SuggestedField))

    def on_field_changed(self, message: m.FieldChanged) -> None:
        """Look again, once the typing pauses."""
        message.stop()
        if message.field == "python":
            self.set_timer(PAUSE_S, self._look_around)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PAUSE_S, self._look)

    def on_resize(self) -> None:
        """Fit what depends on the width."""
        small = f"Too small ({self.size.width}×{self.size.height}). Enlarge, or use `pike run`."
        self.query_one("#too-small", Lines).set_lines(
            wrap((Span(inert_line(small)),), self.size.width)
        )
        if self.before is not None:
            self._look()

    def refuse(self, name: str, why: str, *, go: bool = False) -> None:
        """Show a refusal at its field; one about no text in the banner."""
        where = next((f for f in self.query(SuggestedField) if f.field == name), None)
        if where is not None:
            where.refuse(why)
        else:
            self.query_one("#banner", Banner).say(f"! {why}" if why else "")
        if go and (where is not None or name in CHOICES):
            target = where.input if where is not None else self.query_one(f"#{name}")
            if self.query_one("#advanced") in target.ancestors:
                self.unfold(is_open=True)
            target.focus()

    def unfold(self, *, is_open: bool) -> None:
        """Show the advanced fields, or fold them away."""
        self.set_class(is_open, "-advanced")
        self.query_one(Fold).turn(is_open=is_open)

    def on_failed(self, message: m.Failed) -> None:
        """Keep a failure in sight."""
        message.stop()
        self.query_one("#banner", Banner).say(f"! {message.what}")


def _field(name: str, label: str, hint: str = "", between: str = "") -> SuggestedField:
    return SuggestedField(name, Inert(label), hint=Inert(hint), between=between)


def _chooser(name: str, label: str) -> Chooser:
    return Chooser(Inert(label), [(word, Inert(word)) for word in CHOICES[name]], id=name)
