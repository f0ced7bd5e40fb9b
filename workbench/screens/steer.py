"""The dialog for all eight acts on a running search, and for what became of those sent before.

It stays open until the engine has taken what it sent, so that a refusal meets the words it refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sessions.states import SessionState
from sessions.steering import can_edit, can_withdraw, status
from workbench.actions import Where, bindings
from workbench.asking import steer
from workbench.editing import NoEditor, edited, existing, read
from workbench.plain import inert, inert_line
from workbench.screens.session_acts import GOES_ON
from workbench.screens.steer_looks import SteerLooks
from workbench.widgets.chooser import Chooser
from workbench.widgets.lines import app_of
from workbench.widgets.painted import Lines
from workbench.widgets.steer_fields import GuideBox
from workbench.widgets.steer_form import About, Draft, Wrong, command

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from sessions.folder import SessionFolder
    from sessions.model import State, SteerRecord
    from workbench import messages as m

UNDO = {
    "budget": ": send the old limit instead",
    "model": ": send the old model instead",
    "submit": ": ban its attempt instead",
}
"""How an act is undone that cannot be withdrawn."""


class SteerScreen(SteerLooks):
    """Sends steers, edits and withdraws them; nothing stops while it is open. Returns what was not sent."""

    BINDINGS: ClassVar = bindings(Where.STEER)

    def __init__(
        self, folder: SessionFolder, about: About, draft: Draft, alive: Callable[[], bool]
    ) -> None:
        super().__init__(about, draft)
        self._folder = folder
        self._alive = alive
        """Whether an engine is there to answer."""
        self._asked: dict[int, str] = {}
        """Commands no fact has answered: id to act."""
        self._edits = ""
        """The steer whose words are being changed."""
        self._opening = True
        """Whether keys may still come that were typed before there was a field to type in."""
        self._goes_on = False
        """Whether the next form takes the keys."""
        self._send_at_once = False
        """Whether `ctrl+j` was among them."""

    # --- opening

    async def on_mount(self) -> None:
        """Show the steers there are and the fields of the act."""
        self.query_one("#foot", Lines).set_lines([self._keys()])
        self._show_steers()
        await self._lay_out()
        self.form.take_keys()
        self.call_after_refresh(self._opened)

    def _opened(self) -> None:
        self._opening = False
        if self._send_at_once:
            self.action_send()

    def on_key(self, event: events.Key) -> None:
        """Keep what is typed faster than the dialog opens."""
        if self._opening and event.character and event.is_printable:
            event.stop()
            self.form.take_keys(event.character)

    # --- what is typed

    def _keep(self) -> None:
        """Remember what is typed that the form did not begin with."""
        if not self._edits:
            self._draft.values[self.act] = self.form.typed()

    async def on_field_changed(self, message: m.FieldChanged) -> None:
        """Show the form of another act, or what a typed candidate is."""
        message.stop()
        if message.field == "act" and message.value != self.act:
            self._keep()
            self._edits = ""
            self._draft.act = message.value
            await self._lay_out()
            if self._goes_on:
                self._goes_on = False
                self.form.take_keys()
        else:
            self.form.describe(message.field, message.value, self._about.state)

    # --- sending

    def action_send(self) -> None:
        """Send what the form says."""
        if self._opening:
            self._send_at_once = True
            return
        if self._edits:
            self._send("edit", {"steer": self._edits, "text": self.form.values()["text"].strip()})
            return
        found = command(self.act, self.form.values(), self._about, read)
        if isinstance(found, Wrong):
            self._speak(f"! {found.why}", "warn")
            self.form.go_to(found.field)
        else:
            self._keep()
            self._send(self.act, found)

    def _send(self, act: str, args: dict[str, Any]) -> None:
        self._speak(f"{act} asked")
        seen = self._about.state.seq

        def work() -> None:
            self.post_message(steer(self._folder, act, args, seen))

        self.run_worker(work, thread=True, group="asking", exit_on_error=False)

    def on_steer_asked(self, message: m.SteerAsked) -> None:
        """Wait for the engine's answer, if there is an engine."""
        message.stop()
        if not message.command:
            self._speak(f"! {message.why}", "warn")
        elif self._alive():
            self._asked[message.command] = message.act
            self._speak(f"{message.act} asked: the engine takes it up within a second", "busy")
        else:
            self._sent(message.act)
            app_of(self).notify(inert_line(self._kept(message.act)), markup=False)

    def _kept(self, act: str) -> str:
        """Return what is said of a steer that no engine is there to take."""
        if self._about.state.state is SessionState.FINISHED and act not in GOES_ON:
            return f"{act} is kept: the search is finished; a higher budget (B), then p, goes on with it"
        return f"{act} is kept: no engine runs; p starts one, which takes it up"

    def show_state(self, state: State) -> None:
        """Show what became of the steers, and how the engine answered."""
        about = self._about
        self._about = About(
            state, about.candidate, about.lineage, about.models, about.source, about.name
        )
        self._show_steers()
        for record in {s.command: s for s in state.steers.values()}.values():
            if record.command in self._asked:
                self._answered(record)

    @property
    def unanswered(self) -> dict[int, str]:
        """The commands whose answer it waits for, by id."""
        return self._asked

    def _answered(self, record: SteerRecord) -> None:
        act = self._asked.pop(record.command)
        if not record.applied:
            self._speak(f"! {record.id} {act} refused: {record.why}", "warn")
            return
        told = inert_line(f"{record.id} {act} is taken up")
        if act == "withdraw":
            self._speak(f"{record.args.get('steer', '')} is withdrawn", "better")
            return
        app_of(self).notify(told, markup=False)
        self._sent(act)

    def _sent(self, act: str) -> None:
        """Forget the draft of what was sent, and close."""
        if act in ("withdraw", "edit"):
            self._edits = ""
        else:
            self._draft.values.pop(act, None)
            self._draft.source = self._draft.name = ""
        if act == "withdraw":
            self._speak("withdraw is kept for the next engine")
        else:
            self.dismiss(self._draft)

    async def action_keep(self) -> None:
        """Close; what is typed stays as a draft. While a steer's words are changed, leave that first."""
        if self._edits:
            self._edits = ""
            await self._lay_out()
            return
        if not self._opening:
            self._keep()
        self.dismiss(self._draft)

    async def action_next_act(self) -> None:
        """Show the form of the next act, ready to type in."""
        self.query_one("#act", Chooser).action_choose(1)
        self._goes_on = True

    def action_next_field(self) -> None:
        """Go to the next field."""
        self.focus_next()

    # --- the steers sent before

    async def on_steer_picked(self, message: m.SteerPicked) -> None:
        """Withdraw a steer, or change its words."""
        message.stop()
        record = self._about.state.steers[message.key]
        state, stands = self._about.state, status(self._about.state, record)
        if message.act == "withdraw" and can_withdraw(state, record):
            self._send("withdraw", {"steer": record.id})
        elif message.act == "withdraw":
            self._speak(f"{record.id} is {stands}{UNDO.get(record.act, '')}", "warn")
        elif can_edit(state, record):
            await self._edit(record)
        else:
            words = f"is {stands}" if record.act in ("guide", "fork") else "has no words"
            self._speak(f"{record.id} {words}: nothing to change", "warn")

    async def _edit(self, record: SteerRecord) -> None:
        self._keep()
        self._edits, self._draft.act = record.id, "guide"
        self.query_one("#act", Chooser).choose_value("guide")
        await self._lay_out()
        await self.form.only_words(inert(record.text))
        self._explain(inert_line(f"Other words for {record.id}."), "strong")
        self._speak("ctrl+j sends them; esc leaves the steer as it is")

    # --- the editor

    async def action_in_editor(self) -> None:
        """Write the words, or the file to submit, in $EDITOR."""
        try:
            if self.act == "submit":
                await self._edit_file()
            else:
                self._edit_words()
        except NoEditor as error:
            self._speak(f"! {error}", "warn")

    def _edit_words(self) -> None:
        for words in self.query(GuideBox):
            words.text = inert(edited(app_of(self), words.text, f"{self._folder.name}-words.txt"))

    async def _edit_file(self) -> None:
        path = self.form.values()["file"].strip()
        before = self._about.source or existing(path)
        name = path.rpartition("/")[2] or f"{self._folder.name}.py"
        after = edited(app_of(self), before, name)
        if after != before:
            self._draft.source, self._draft.name = after, name
            old = self._about
            self._about = About(old.state, old.candidate, old.lineage, old.models, after, name)
            self._draft.values.pop("submit", None)
            await self._lay_out()
