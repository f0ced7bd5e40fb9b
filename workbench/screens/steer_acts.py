"""What the keys of the live screen do to the course of a search: the eight steers, and how each was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.model import ORIGINAL
from sessions.steering import status
from workbench import messages as m
from workbench.asking import steer
from workbench.format import plural
from workbench.plain import Inert, inert_line
from workbench.screens.choice import CANCEL, Answer, Choice
from workbench.screens.session_acts import SessionActs
from workbench.widgets.steer_form import About, Draft

if TYPE_CHECKING:
    from sessions.folder import SessionFolder
    from sessions.model import State
    from workbench.screens.steer import SteerScreen


class SteerActs(SessionActs):
    """Steers one session."""

    def __init__(self, folder: SessionFolder) -> None:
        super().__init__(folder)
        self._steering: SteerScreen | None = None
        self._sent: dict[int, str] = {}
        """This viewer's commands no fact has answered: id to act."""

    # --- the dialog

    def action_steer(self) -> None:
        """Open the dialog as it was left."""
        self._open("")

    def action_fork(self) -> None:
        """Open the dialog at fork."""
        self._open("fork")

    def action_budget(self) -> None:
        """Open the dialog at budget."""
        self._open("budget")

    def action_pin(self) -> None:
        """Open the dialog at pin."""
        self._open("pin")

    def action_boost(self) -> None:
        """Open the dialog at boost."""
        self._open("boost")

    def action_submit(self) -> None:
        """Open the dialog at submit."""
        self._open("submit")

    def action_model(self) -> None:
        """Open the dialog at model."""
        self._open("model")

    def _open(self, act: str) -> None:
        from workbench.screens.steer import SteerScreen

        if self.feed is None:
            self.tell("the session is not read yet")
            return
        if self.refuses():
            return
        draft = self.pike.draft(self.folder)
        draft.act = act or self._act_at_first(draft)
        self._steering = SteerScreen(self.folder, self._about(draft), draft, self._is_alive)
        self.pike.push_screen(self._steering, self._left)

    def _act_at_first(self, draft: Draft) -> str:
        """Return the act to open at: the one a refused key or an unknown model needs, else that of the draft."""
        state = self.feed.state if self.feed else None
        needs_model = state is not None and state.code in ("bad_key", "unknown_model")
        return "model" if needs_model else draft.act

    def _left(self, draft: Draft | None) -> None:
        if self._steering is not None:
            self._sent |= self._steering.unanswered
        self._steering = None
        if draft is not None and not (draft.source or any(draft.values.values())):
            draft.act = "guide"

    def _about(self, draft: Draft) -> About:
        assert self.feed is not None
        row = self.table.selected
        return About(
            self.feed.state,
            row.key if row else ORIGINAL,
            row.lineage if row else "",
            self.pike.model_names(),
            draft.source,
            draft.name,
        )

    def _is_alive(self) -> bool:
        return not self.standing.silent and self.standing.word not in ("finished", "stopped")

    # --- at once

    def action_ban(self) -> None:
        """Ask whether to ban the attempt under the cursor, or to lift its ban."""
        attempt = self.attempt()
        if attempt is None:
            self.tell("no attempt is selected")
            return
        if attempt.banned:
            said = [Inert("It may be a parent and an inspiration again.")]
            answers = (Answer("X", "Lift the ban", "off"), CANCEL)
        else:
            said = [Inert("No new proposal starts from it. What was measured stays.")]
            below = self._below(attempt.id)
            more = f"Ban it and the {plural(below, 'attempt')} below it"
            one = Answer("o", "Ban only this one", "one")
            both = Answer("X", more if below else "Ban it", "subtree")
            answers = (both, one, CANCEL) if below else (both, CANCEL)
        title = inert_line(f"Ban {attempt.id}" if not attempt.banned else f"Banned: {attempt.id}")
        self.pike.push_screen(Choice(title, said, answers), lambda a: self._ban(attempt.id, a))

    def _below(self, candidate: str) -> int:
        """Return how many attempts descend from one."""
        found = {candidate}
        for attempt in self.feed.state.attempts.values() if self.feed else ():
            if attempt.parent in found:
                found.add(attempt.id)
        return len(found) - 1

    def _ban(self, candidate: str, answer: str | None) -> None:
        if answer:
            args = {"candidate": candidate, "subtree": answer == "subtree", "off": answer == "off"}
            self.send("ban", args)

    def action_withdraw(self) -> None:
        """Withdraw the newest steer that waits."""
        state = self.feed.state if self.feed else None
        found = [s for s in state.steers.values() if status(state, s) == "waiting"] if state else []
        if not found:
            self.tell("no steer is waiting; s lists those in force, and w withdraws one there")
            return
        self.send("withdraw", {"steer": found[-1].id})
        self.tell(f"withdrawing {found[-1].id} {found[-1].act}")

    def action_edit(self) -> None:
        """Open a copy of the attempt in the editor; offer to submit what was changed."""
        from workbench.editing import NoEditor, edited

        if self.feed is None or self.feed.state.opened is None:
            return
        attempt, opened = self.attempt(), self.feed.state.opened
        source = self.feed.text(attempt.source_key if attempt else opened.source_key)
        name = f"{self.folder.name}-{attempt.id if attempt else ORIGINAL}.py"
        try:
            after = edited(self.pike, source, name)
        except NoEditor as error:
            self.post_message(m.Failed(str(error)))
            return
        if after == source:
            self.tell(f"{name} was not changed, so there is nothing to submit")
            return
        draft = self.pike.draft(self.folder)
        draft.source, draft.name = after, name
        draft.values.pop("submit", None)
        self._open("submit")

    # --- answers

    def send(self, act: str, args: dict[str, Any]) -> None:
        """Write a steer, in a thread; what the engine answers is told when it comes."""
        if self.refuses():
            return
        seen = self.feed.state.seq if self.feed else 0
        self.in_thread(lambda: steer(self.folder, act, args, seen))

    def on_steer_asked(self, message: m.SteerAsked) -> None:
        """Wait for the engine's answer."""
        message.stop()
        if not message.command:
            self.post_message(m.Failed(message.why))
            return
        self._sent[message.command] = message.act
        if not self._is_alive():
            self.tell(f"{message.act} is kept: no engine runs; p starts one, which takes it up")

    def steers_answered(self, state: State) -> None:
        """Tell what became of this viewer's steers; a refusal stays in the banner until it is settled."""
        if self._steering is not None:
            self._steering.show_state(state)
        found = {s.command: s for s in state.steers.values()} if self._sent else {}
        for record in [found[command] for command in [*self._sent] if command in found]:
            act = self._sent.pop(record.command)
            if record.applied:
                self.tell(f"{record.id} {act} is taken up")
            else:
                self.trouble = f"{record.id} {act} refused: {record.why}"
