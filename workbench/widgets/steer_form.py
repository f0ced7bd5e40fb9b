"""The eight acts as forms: which fields each has, what they begin with, and the command they make. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessions.budget import queries_left, running_s
from sessions.model import ORIGINAL
from sessions.steering import GUIDE_LIMIT
from workbench.format import amount, duration, plural
from workbench.glyphs import word
from workbench.plain import Inert, inert_line
from workbench.widgets.lines import NO_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sessions.model import State

ACTS = ("guide", "pin", "ban", "boost", "fork", "submit", "budget", "model")
SAYS: dict[str, str] = {
    "guide": "Your words go into the agents' prompts, from the next one on.",
    "pin": "Pinned, it is always a possible parent.",
    "ban": "It starts nothing new and is never the best. Its numbers stay.",
    "boost": "It is chosen as a parent more often. A weight of 1 is as before.",
    "fork": "Starts paid proposals from it at once, each on its own lineage.",
    "submit": "A file of yours is judged as an attempt. It costs no query.",
    "budget": "Where the search ends; the word none takes a limit away.",
    "model": "Who answers an agent, from its next query on.",
}
"""What each act does, in a sentence that fits a form of 80 cells."""
UNTIL_WITHDRAWN = "0"
ROLES = (("all", "all agents"), ("ideas", "IBA"), ("improve", "COA"), ("fix", "EFA"))
LIMITS = (("queries", "Queries"), ("cost_usd", "Dollars"), ("hours", "Hours"))
NO_LIMIT = "none"
FORM_TEXT = 66
"""Cells of a text in the form, where a screen has 80."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form."""

    name: str
    label: Inert
    start: Inert = NO_TEXT
    """What stands in it at first; of a choice, the value chosen."""
    options: tuple[tuple[str, Inert], ...] = ()
    """Of a choice: value and words of each."""
    note: Inert = NO_TEXT
    words: bool = False
    """Whether it takes several lines."""
    keeps: bool = True
    """Whether a draft keeps what is typed here; a candidate follows the selection instead."""


@dataclass(frozen=True, slots=True)
class About:
    """What a form is filled in from."""

    state: State
    candidate: str = ORIGINAL
    """The selected attempt."""
    lineage: str = ""
    models: tuple[str, ...] = ()
    """Names that can be typed as they are."""
    source: str = ""
    """A text to submit, from an editor; empty: a file is named."""
    name: str = ""
    """Where that text comes from."""


@dataclass(slots=True)
class Draft:
    """What was typed and not sent: this viewer's only."""

    act: str = ACTS[0]
    values: dict[str, dict[str, Inert]] = field(default_factory=dict[str, dict[str, Inert]])
    """By act, then by field."""
    source: str = ""
    name: str = ""
    """Of an edited copy."""

    def value(self, act: str, field_: Field) -> Inert:
        """Return what stands in a field."""
        kept = self.values.get(act, {}).get(field_.name)
        known = [value for value, _ in field_.options]
        return field_.start if kept is None or (known and kept not in known) else kept


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why a form makes no command, and which field is to be mended."""

    field: str
    why: str


Values = "Mapping[str, str]"


def fields(act: str, about: About) -> tuple[Field, ...]:
    """Return the fields of an act."""
    return _FIELDS[act](about)


def command(
    act: str, values: Mapping[str, str], about: About, read: Callable[[str], str]
) -> dict[str, Any] | Wrong:
    """Return the arguments of the command that a form makes, or what is wrong with it.

    Args:
        act: one of `ACTS`.
        values: what stands in the fields.
        about: what the form was filled in from.
        read: returns the text of a file; raises OSError or ValueError.
    """
    match act:
        case "guide":
            return _guide(values)
        case "pin" | "ban":
            return _on_candidate(act, values, about)
        case "boost":
            weight = _number(values["weight"])
            if weight is None or not 0 < weight <= 100:
                return Wrong("weight", "the weight is a number above 0, at most 100")
            return {"target": values["target"], "weight": weight}
        case "fork":
            return _fork(values, about)
        case "submit":
            return _submit(values, about, read)
        case "budget":
            return _budget(values, about)
        case _:
            model = values["model"].strip()
            return {"role": values["role"], "model": model} if model else _NO_MODEL


_NO_MODEL = Wrong("model", "name the model that is to answer")


def candidate_note(state: State, name: str) -> Inert:
    """Return what a candidate is, beside the field that names it."""
    name = name.strip()
    if name == ORIGINAL:
        return Inert("the original")
    attempt = state.attempts.get(name)
    if attempt is None:
        return inert_line(f"there is no {name}" if name else "a candidate, such as c12", 40)
    speed = f" {attempt.speedup:.2f}×" if attempt.speedup else ""
    return inert_line(f"{word(attempt)}{speed} · lineage {attempt.lineage}", 40)


# --- fields


def _guide_fields(about: About) -> tuple[Field, ...]:
    scopes = [("session", Inert("session"))]
    if about.lineage:
        scopes.append((f"lineage:{about.lineage}", inert_line(f"lineage {about.lineage}")))
    if about.candidate != ORIGINAL:
        scopes.append((f"candidate:{about.candidate}", inert_line(f"candidate {about.candidate}")))
    lasting = (
        (UNTIL_WITHDRAWN, "until withdrawn"),
        ("1", "1 proposal"),
        ("10", "10 proposals"),
        ("50", "50"),
    )
    return (
        _choice("scope", "For", scopes),
        _choice("last", "Lasting", lasting),
        Field("text", Inert("Words"), words=True),
    )


def _candidate(about: About) -> Field:
    note = candidate_note(about.state, about.candidate)
    return Field(
        "candidate", Inert("Candidate"), inert_line(about.candidate), note=note, keeps=False
    )


def _pin_fields(about: About) -> tuple[Field, ...]:
    does = [("on", "pin it"), ("off", "no longer")]
    return (
        _candidate(about),
        _choice(
            "do",
            "Do",
            does,
            start="off" if about.candidate in about.state.pins else "on",
            keeps=False,
        ),
    )


def _ban_fields(about: About) -> tuple[Field, ...]:
    banned = about.candidate in about.state.banned
    does = [
        ("subtree", "it and what descends from it"),
        ("one", "only it"),
        ("off", "lift the ban"),
    ]
    start = "off" if banned else "subtree"
    return (_candidate(about), _choice("do", "Ban", does, start=start, keeps=False))


def _boost_fields(about: About) -> tuple[Field, ...]:
    targets = [(f"candidate:{about.candidate}", inert_line(f"candidate {about.candidate}"))]
    if about.lineage:
        targets.append((f"lineage:{about.lineage}", inert_line(f"lineage {about.lineage}")))
    note = Inert("above 0, at most 100; 1 is as before")
    return (
        _choice("target", "Target", targets, keeps=False),
        Field("weight", Inert("Weight"), Inert("3"), note=note),
    )


def _fork_fields(about: About) -> tuple[Field, ...]:
    left = plural(queries_left(about.state), "query", "queries")
    room = f"at least one query each; {left} left" if about.state.limits.get("queries") else ""
    usual = about.state.models.get("improve", "")
    return (
        _candidate(about),
        Field("count", Inert("Proposals"), Inert("1"), note=inert_line(room)),
        Field("model", Inert("Model"), note=inert_line(f"empty: {usual}", 40)),
        Field("text", Inert("Words"), words=True),
    )


def _submit_fields(about: About) -> tuple[Field, ...]:
    edited = (Field("file", Inert("File"), inert_line(about.name), note=Inert("as you left it")),)
    named = (Field("file", Inert("File"), note=Inert("with ModelNew; ~ is your home")),)
    parent = Field(
        "parent",
        Inert("Made from"),
        inert_line(about.candidate),
        note=candidate_note(about.state, about.candidate),
        keeps=False,
    )
    fixes = [("no", "judge it as it is"), ("yes", "EFA may fix it")]
    return (*(edited if about.source else named), parent, _choice("fix", "If broken", fixes))


def _budget_fields(about: About) -> tuple[Field, ...]:
    spending = about.state.spending
    notes = {
        "queries": f"{spending.queries} spent, {spending.queries_reserved} reserved",
        "cost_usd": f"{amount(spending.cost_usd)} spent, {amount(spending.cost_reserved_usd)} reserved",
        "hours": f"{duration(running_s(about.state, about.state.last_at))} run",
    }
    return tuple(
        Field(
            name,
            Inert(label),
            _limit(about.state.limits.get(name)),
            note=inert_line(notes[name]),
            keeps=False,
        )
        for name, label in LIMITS
    )


def _model_fields(about: About) -> tuple[Field, ...]:
    now = about.state.models
    told = ", ".join(f"{name} {now[role]}" for role, name in ROLES if role in now)
    known = f"known: {', '.join(about.models)}" if about.models else ""
    return (
        _choice("role", "Agent", ROLES),
        Field("model", Inert("Model")),
        Field("now", NO_TEXT, note=inert_line(f"now: {told}", FORM_TEXT)),
        Field("known", NO_TEXT, note=inert_line(known, FORM_TEXT)),
    )


_FIELDS: Mapping[str, Callable[[About], tuple[Field, ...]]] = {
    "guide": _guide_fields,
    "pin": _pin_fields,
    "ban": _ban_fields,
    "boost": _boost_fields,
    "fork": _fork_fields,
    "submit": _submit_fields,
    "budget": _budget_fields,
    "model": _model_fields,
}


def _choice(
    name: str,
    label: str,
    options: Sequence[tuple[str, str]],
    *,
    start: str = "",
    keeps: bool = True,
) -> Field:
    found = tuple((value, inert_line(words)) for value, words in options)
    return Field(name, Inert(label), Inert(start or found[0][0]), found, keeps=keeps)


def _limit(value: float | None) -> Inert:
    return Inert(NO_LIMIT if value is None else f"{value:g}")


# --- commands


def _guide(values: Mapping[str, str]) -> dict[str, Any] | Wrong:
    text = values["text"].strip()
    if not text:
        return Wrong("text", "write what the agents should be told")
    if len(text) > GUIDE_LIMIT:
        return Wrong("text", f"{len(text):,} characters; {GUIDE_LIMIT:,} is the most")
    return {"text": text, "scope": values["scope"], "last": int(values["last"])}


def _on_candidate(act: str, values: Mapping[str, str], about: About) -> dict[str, Any] | Wrong:
    name = _named(values["candidate"], about)
    if isinstance(name, Wrong):
        return name
    off = values["do"] == "off"
    found: dict[str, Any] = {"candidate": name, "off": off}
    return found | ({"subtree": values["do"] == "subtree"} if act == "ban" else {})


def _fork(values: Mapping[str, str], about: About) -> dict[str, Any] | Wrong:
    name = _named(values["candidate"], about)
    if isinstance(name, Wrong):
        return name
    count = _number(values["count"])
    if count is None or count < 1 or count != int(count):
        return Wrong("count", "the proposals are a whole number, at least 1")
    text = values["text"].strip()
    if len(text) > GUIDE_LIMIT:
        return Wrong("text", f"{len(text):,} characters; {GUIDE_LIMIT:,} is the most")
    return {"candidate": name, "count": int(count), "text": text, "model": values["model"].strip()}


def _submit(
    values: Mapping[str, str], about: About, read: Callable[[str], str]
) -> dict[str, Any] | Wrong:
    parent = _named(values["parent"], about, "parent")
    if isinstance(parent, Wrong):
        return parent
    path = values["file"].strip()
    source = about.source
    if not source or path != about.name:
        if not path:
            return Wrong("file", "name the file to submit; ctrl+o writes one in $EDITOR")
        try:
            source = read(path)
        except (OSError, ValueError) as error:
            return Wrong("file", f"cannot read {path}: {getattr(error, 'strerror', None) or error}")
    if not source.strip():
        return Wrong("file", f"{path} is empty")
    name = path.replace("\\", "/").rpartition("/")[2]
    return {"source": source, "name": name, "parent": parent, "fix": values["fix"] == "yes"}


def _budget(values: Mapping[str, str], about: About) -> dict[str, Any] | Wrong:
    found: dict[str, Any] = {}
    for name, label in LIMITS:
        typed = values[name].strip().lower()
        if typed == _limit(about.state.limits.get(name)):
            continue
        number = _number(typed)
        if typed != NO_LIMIT and (number is None or number <= 0):
            return Wrong(name, f"{label.lower()} is a number above 0, or {NO_LIMIT}")
        if name == "queries" and number is not None and number != int(number):
            return Wrong(name, "queries is a whole number")
        found[name] = int(number) if number is not None and name == "queries" else number
    return found or Wrong("queries", "no limit is changed yet")


def _named(typed: str, about: About, field_: str = "candidate") -> str | Wrong:
    name = typed.strip()
    if name == ORIGINAL or name in about.state.attempts:
        return name
    return Wrong(field_, f"there is no candidate {name[:40]!r}" if name else "name a candidate")


def _number(typed: str) -> float | None:
    try:
        number = float(typed.strip().replace(",", ""))
    except ValueError:
        return None
    return number if number == number and abs(number) < 1e9 else None
