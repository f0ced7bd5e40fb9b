"""Every act a person can do on a screen, once: key, label, help, where. Footer, help and palette are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from textual.binding import Binding, BindingType


class Where(StrEnum):
    """Where an act is at hand."""

    EVERYWHERE = "everywhere"
    SESSIONS = "session list"
    LIVE = "live session"
    ROWS = "in a list"
    TEXT = "in a text"
    STEER = "steer dialog"
    STEERS = "in the list of steers"
    NEW = "new session"
    COMPARE = "comparing attempts"
    VERSUS = "comparing sessions"


@dataclass(frozen=True, slots=True)
class Act:
    """One row of the registry."""

    id: str
    """Stable; users remap by it. The method that does it is `action_` and this, with `_` for `.`."""
    key: str
    """Keys as Textual names them, separated by commas; empty: by the palette only, until a person gives it one."""
    shown: str
    """The keys as people write them."""
    label: str
    help: str
    where: Where
    group: str = "view"
    """`session`, `attempt` or `view`: its prefix in the palette."""
    footer: int = 0
    """Its place at the foot of the screen, the most useful first; 0 for none."""

    @property
    def method(self) -> str:
        """The name of the action."""
        return self.id.split(".", 1)[1].replace("-", "_")


_S, _A, _V = "session", "attempt", "view"
_LIST, _LIVE, _ROWS, _TEXT = Where.SESSIONS, Where.LIVE, Where.ROWS, Where.TEXT
_FORM, _SENT = Where.STEER, Where.STEERS
_NEW, _COMPARE, _VERSUS = Where.NEW, Where.COMPARE, Where.VERSUS

ACTS: tuple[Act, ...] = (
    Act("list.open", "enter", "enter", "Open", "watch the session", _LIST, _S, 1),
    Act("list.new", "n", "n", "New", "a new session, everything prefilled", _LIST, _S, 2),
    Act("list.demo", "d", "d", "Demo", "a real search with recorded answers; no key, no GPU needed", _LIST, _S),
    Act("list.pause", "p", "p", "Pause", "pause or resume the session; revives a dead engine", _LIST, _S, 3),
    Act("list.stop", "x", "x", "Stop", "pause it, then end its engine; asks first", _LIST, _S, 4),
    Act("list.mark", "space", "space", "Mark", "mark the session, to compare it; again to unmark", _LIST, _S),
    Act("list.compare", "c", "c", "Compare", "the marked sessions, on one task: curves and costs", _LIST, _S, 5),
    Act("list.filter", "slash", "/", "Filter", "show only the sessions whose row holds these words", _LIST, _V, 6),
    Act("list.copy", "y", "y", "Copy", "copy the session's name", _LIST, _S),
    Act("list.back", "escape", "esc", "Back", "drop the filter", _LIST, _V),
    Act("list.leave", "q", "q", "Leave", "leave; searches go on without this window", _LIST, _V),
    Act("new.start", "ctrl+j", "ctrl+j", "Start", "check everything and start the session", _NEW, _S, 1),
    Act("new.copy-line", "ctrl+y,y", "ctrl+y", "Copy as a pike run line", "the same session as a command", _NEW, _S, 2),
    Act("new.fold", "ctrl+o", "ctrl+o", "More", "the advanced fields, or fewer", _NEW, _V, 3),
    Act("new.back", "escape", "esc", "Back", "back to the sessions; what is typed is there next time", _NEW, _V, 4),
    Act("live.pause", "p", "p", "Pause", "pause or resume; revives a dead engine", _LIVE, _S, 1),
    Act("live.pause-now", "P", "P", "Pause now", "pause and cancel evaluations; paid queries are kept", _LIVE, _S),
    Act("live.stop", "x", "x", "Stop", "pause, then end the engine; asks", _LIVE, _S),
    Act("live.steer", "s", "s", "Steer", "guide, pin, ban, boost, fork, submit, budget, model", _LIVE, _S, 2),
    Act("live.budget", "B", "B", "Budget", "new limits of queries, dollars and hours", _LIVE, _S),
    Act("live.model", "", "", "Model", "another model for an agent, from its next query", _LIVE, _S),
    Act("live.withdraw", "z", "z", "Withdraw", "withdraw the last steer that no prompt has used yet", _LIVE, _S),
    Act("live.fork", "f", "f", "Fork", "paid proposals from this attempt, on new lineages", _LIVE, _A, 3),
    Act("live.ban", "X", "X", "Ban", "this attempt starts nothing new, nor what descends from it; asks", _LIVE, _A),
    Act("live.pin", "", "", "Pin", "this attempt is always a possible parent, or no longer", _LIVE, _A),
    Act("live.boost", "", "", "Boost", "this attempt or its lineage is chosen more often", _LIVE, _A),
    Act("live.submit", "", "", "Submit", "a file of yours is judged as an attempt; costs no query", _LIVE, _A),
    Act("live.edit", "e", "e", "Edit", "a copy in $EDITOR; if you change it, submit it as yours", _LIVE, _A),
    Act("live.open", "enter", "enter", "Open", "show the attempt in the detail pane", _LIVE, _A, 4),
    Act("live.mark", "space", "space", "Mark", "mark the attempt, to compare it; again to unmark", _LIVE, _A),
    Act("live.compare", "c", "c", "Compare", "the marked attempts; one alone with the best", _LIVE, _A),
    Act("live.filter", "slash", "/", "Filter", "correct !suspect >1.5x by:EFA; in a text: search", _LIVE, _V, 5),
    Act("live.sort", "o", "o", "Sort", "the attempts by number, speedup, runtime or cost", _LIVE, _V),
    Act("live.reverse", "O", "O", "Reverse", "the other way round", _LIVE, _V),
    Act("live.copy", "y", "y", "Copy", "copy the attempt's id", _LIVE, _A),
    Act("live.copy-content", "Y", "Y", "Copy text", "copy what the detail pane shows, without gutters", _LIVE, _A),
    Act("live.write", "E", "E", "Write", "write the candidate to a file; in a diff, the patch", _LIVE, _A),
    Act("live.chart", "v", "v", "Chart", "best so far, full screen; again to go back", _LIVE, _V),
    Act("live.axis", "u", "u", "Axis", "the chart over queries, money or time", _LIVE, _V),
    Act("live.follow", "t", "t", "Follow", "keep the cursor on the newest attempt, or stop that", _LIVE, _V),
    Act("live.tab-before", "left_square_bracket", "[", "Tab left", "the tab before", _LIVE, _V),
    Act("live.tab-after", "right_square_bracket", "]", "Tab", "the next of the tabs of the detail pane", _LIVE, _V, 6),
    Act("live.grow", "plus", "+", "Grow", "the detail pane wider", _LIVE, _V),
    Act("live.shrink", "underscore", "_", "Shrink", "the detail pane narrower", _LIVE, _V),
    Act("live.base", "b", "b", "Diff base", "the diff against the parent, the best or the original", _LIVE, _V),
    Act("live.pane-1", "1", "1", "Lineages", "the lineages", _LIVE, _V),
    Act("live.pane-2", "2", "2", "Attempts", "the attempts", _LIVE, _V),
    Act("live.pane-3", "3", "3", "Detail", "the detail pane", _LIVE, _V),
    Act("live.pane-4", "4", "4", "Agents", "the agents", _LIVE, _V),
    Act("live.next-pane", "tab", "tab", "Next pane", "the next pane", _LIVE, _V),
    Act("live.back", "escape", "esc", "Back", "one level back: the list of attempts, then the sessions", _LIVE, _V),
    Act("live.leave", "q,ctrl+c", "q", "Leave", "leave this window; the search goes on", _LIVE, _S),
    Act("rows.cursor-down", "j,down", "j ↓", "Down", "one row down", _ROWS),
    Act("rows.cursor-up", "k,up", "k ↑", "Up", "one row up", _ROWS),
    Act("rows.cursor-first", "g,home", "g", "First", "the first row", _ROWS),
    Act("rows.cursor-last", "G,end", "G", "Last", "the last row", _ROWS),
    Act("rows.half-down", "ctrl+d", "ctrl+d", "Half page down", "half a page down", _ROWS),
    Act("rows.half-up", "ctrl+u", "ctrl+u", "Half page up", "half a page up", _ROWS),
    Act("rows.page-down", "pagedown", "pgdn", "Page down", "a page down", _ROWS),
    Act("rows.page-up", "pageup", "pgup", "Page up", "a page up", _ROWS),
    Act("rows.open-row", "enter", "enter", "Open", "open the row", _ROWS),
    Act("rows.unfold", "l,right", "l →", "Unfold", "unfold a lineage", _ROWS),
    Act("rows.fold", "h,left", "h ←", "Fold", "fold a lineage", _ROWS),
    Act("text.line-down", "j,down", "j ↓", "Down", "one line down", _TEXT),
    Act("text.line-up", "k,up", "k ↑", "Up", "one line up", _TEXT),
    Act("text.text-first", "g,home", "g", "Start", "the start", _TEXT),
    Act("text.text-last", "G,end", "G", "End", "the end", _TEXT),
    Act("text.half-down", "ctrl+d", "ctrl+d", "Half page down", "half a page down", _TEXT),
    Act("text.half-up", "ctrl+u", "ctrl+u", "Half page up", "half a page up", _TEXT),
    Act("text.page-down", "pagedown,space", "space", "Page down", "a page down", _TEXT),
    Act("text.page-up", "pageup", "pgup", "Page up", "a page up", _TEXT),
    Act("text.scroll-right", "l,right", "l →", "Right", "scroll sideways", _TEXT),
    Act("text.scroll-left", "h,left", "h ←", "Left", "scroll sideways", _TEXT),
    Act("text.more-context", "right_curly_bracket", "}", "More", "more unchanged lines around each change", _TEXT),
    Act("text.less-context", "left_curly_bracket", "{", "Less", "fewer unchanged lines around each change", _TEXT),
    Act("text.whitespace", "w", "w", "Whitespace", "changes of white space alone: hidden or shown", _TEXT),
    Act("text.beside", "S", "S", "Side by side", "a diff in two columns, or in one; from 140 cells it has two", _TEXT),
    Act("text.pager", "L", "L", "Pager", "all of the text in $PAGER, however long", _TEXT),
    Act("text.next-stop", "n", "n", "Next", "the next hunk, section or match", _TEXT),
    Act("text.previous-stop", "N", "N", "Previous", "the hunk, section or match before", _TEXT),
    Act("steer.send", "ctrl+j", "ctrl+j", "Send", "send what the form says", _FORM, _S, 1),
    Act("steer.in-editor", "ctrl+o", "ctrl+o", "$EDITOR", "the words, or the file to submit, in $EDITOR", _FORM, _S, 2),
    Act("steer.next-act", "ctrl+l", "ctrl+l", "Act", "the form of the next act; what is typed stays", _FORM, _V, 3),
    Act("steer.next-field", "tab", "tab", "Next", "the next field; shift+tab: the field before", _FORM, _V),
    Act("steer.keep", "escape,ctrl+c", "esc", "Keep draft", "close; what is typed stays", _FORM, _V, 4),
    Act("steers.withdraw", "w,delete", "w", "Withdraw", "the steer under the cursor", _SENT, _S, 1),
    Act("steers.edit", "e", "e", "Edit", "other words for the steer under the cursor", _SENT, _S, 2),
    Act("compare.again", "R", "R", "Measure again", "time them back to back; again: stop", _COMPARE, _A, 1),
    Act("compare.write", "E", "E", "Write patch", "the patch to a file in the current folder", _COMPARE, _A, 2),
    Act("compare.copy-patch", "Y", "Y", "Copy patch", "copy the patch", _COMPARE, _A),
    Act("compare.next-pair", "right_square_bracket", "]", "Next pair", "the diff between two others", _COMPARE, _V),
    Act("compare.previous-pair", "left_square_bracket", "[", "Pair before", "the pair before", _COMPARE, _V),
    Act("compare.back", "escape,q", "esc", "Back", "back to where you came from", _COMPARE, _V, 3),
    Act("versus.axis", "u", "u", "Axis", "the curves over queries, money or time", _VERSUS, _V, 1),
    Act("versus.back", "escape,q", "esc", "Back", "back to the sessions", _VERSUS, _V, 2),
    Act("app.help", "question_mark", "?", "Help", "this page", Where.EVERYWHERE, _V, 7),
    Act("app.palette", "ctrl+p", "ctrl+p", "Palette", "every act by name", Where.EVERYWHERE, _V),
    Act("app.suspend", "ctrl+z", "ctrl+z", "Suspend", "suspend this viewer only", Where.EVERYWHERE, _V),
    Act("app.leave-now", "ctrl+q", "ctrl+q", "Leave at once", "without a dialog; searches go on", Where.EVERYWHERE, _V),
)  # fmt: skip


PRIORITY = frozenset(
    {"app.leave-now", "new.start", "steer.send", "steer.in-editor", "steer.next-act", "steer.keep"}
)
"""Acts whose key no field of a form may take for itself."""


def acts(where: Where) -> list[Act]:
    """Return the acts at hand there, in the registry's order."""
    return [act for act in ACTS if act.where is where]


def bindings(where: Where) -> list[BindingType]:
    """Return Textual's bindings for these acts."""
    return [
        Binding(
            act.key or f"no-key-{act.method}",  # never pressed, but there for a setting to replace
            act.method,
            act.label,
            show=False,
            id=act.id,
            priority=act.id in PRIORITY,
        )
        for act in acts(where)
    ]


def footer(where: Where) -> list[Act]:
    """Return the acts at the foot of a screen, the most useful first; seven at most."""
    found = [act for act in ACTS if act.footer and act.where in (where, Where.EVERYWHERE)]
    return sorted(found, key=lambda act: act.footer)[:7]


def by_id(act_id: str) -> Act:
    """Return the act of that id."""
    return next(act for act in ACTS if act.id == act_id)
