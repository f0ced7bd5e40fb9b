"""A strategy's settings: read from text or values, checked, described."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from strategies.errors import SettingRefused, hint

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | int | float | bool
T = TypeVar("T")
U = TypeVar("U")

_TRUTH: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


@dataclass(frozen=True, slots=True)
class Described:
    """One setting, as `pike config` and the manual show it."""

    name: str
    default: Value
    type: str
    """`whole number`, `number`, `yes or no`, or the words it may be."""
    meaning: str


@dataclass(frozen=True, slots=True)
class _Rule:
    default: Value
    meaning: str
    low: float = 0
    high: float = 0
    words: tuple[str, ...] = ()


def number(default: int, low: int, high: int, meaning: str) -> int:
    """Declare a whole number from `low` to `high` as a dataclass field."""
    return field(default=default, metadata={"rule": _Rule(default, meaning, low, high)})


def real(default: float, low: float, high: float, meaning: str) -> float:
    """Declare a number from `low` to `high` as a dataclass field."""
    return field(default=default, metadata={"rule": _Rule(default, meaning, low, high)})


def share(default: float, meaning: str) -> float:
    """Declare a number from 0 to 1 as a dataclass field."""
    return field(default=default, metadata={"rule": _Rule(default, meaning, 0, 1)})


def switch(default: bool, meaning: str) -> bool:
    """Declare a yes or no as a dataclass field."""
    return field(default=default, metadata={"rule": _Rule(default, meaning)})


def word(default: str, words: tuple[str, ...], meaning: str) -> str:
    """Declare one of a few words as a dataclass field."""
    return field(default=default, metadata={"rule": _Rule(default, meaning, words=words)})


def is_declared(declared: Field[Any]) -> bool:
    """Return whether a dataclass field is one of these settings."""
    return isinstance(declared.metadata.get("rule"), _Rule)


@dataclass(frozen=True, slots=True)
class BasicSettings:
    """What the engine reads of any strategy's settings; a strategy of one's own may inherit it."""

    queries: int = number(300, 1, 1_000_000, "hard limit on calls to language models")
    places: int = number(10, 1, 1_000, "trajectories that run at once")
    fixes: int = number(5, 0, 100, "fixes of one trajectory after its first answer")
    fix_memory: int = number(
        0, 0, 100, "earlier attempts of the chain shown to the error fixing agent"
    )


def read(kind: type[T], beside: type[U], name: str, given: Mapping[str, Value]) -> tuple[T, U]:
    """Return the settings of strategy `name` and what every strategy can have besides.

    Raises:
        SettingRefused: a key that neither knows, with the nearest spelling; or a value out of range.
    """
    own, shared = _rules(kind), _rules(beside)
    rules = {**own, **shared}
    for key in given:
        if key not in rules:
            listed = f"Its settings: {', '.join(rules)}."
            raise SettingRefused(f"{name} has no setting '{key}'{hint(key, rules)} {listed}")
    checked = {key: _checked(name, key, rules[key], value) for key, value in given.items()}
    return (
        kind(**{key: value for key, value in checked.items() if key in own}),
        beside(**{key: value for key, value in checked.items() if key in shared}),
    )


def describe(kind: type[Any]) -> tuple[Described, ...]:
    """Return every setting of a settings class, in the order declared."""
    return tuple(
        Described(key, rule.default, _type(rule), rule.meaning)
        for key, rule in _rules(kind).items()
    )


def _rules(kind: type[Any]) -> dict[str, _Rule]:
    return {declared.name: declared.metadata["rule"] for declared in fields(kind)}


def _type(rule: _Rule) -> str:
    if rule.words:
        return " or ".join(rule.words)
    if isinstance(rule.default, bool):
        return "yes or no"
    kind = "number" if isinstance(rule.default, float) else "whole number"
    return f"{kind}, {rule.low} to {rule.high}"


def _checked(name: str, key: str, rule: _Rule, value: Value) -> Value:
    parsed = _parsed(rule, value)
    if parsed is None:
        raise SettingRefused(f"{name}: {key} is '{value}', but must be: {_type(rule)}.")
    return parsed


def _parsed(rule: _Rule, value: Value) -> Value | None:
    text = str(value).strip()
    if rule.words:
        return text if text in rule.words else None
    if isinstance(rule.default, bool):
        return _TRUTH.get(text.lower())
    return _number(text, rule)


def _number(text: str, rule: _Rule) -> int | float | None:
    try:
        parsed = float(text)
    except ValueError:
        return None
    if not rule.low <= parsed <= rule.high:
        return None
    if isinstance(rule.default, float):
        return parsed
    return int(parsed) if parsed.is_integer() else None
