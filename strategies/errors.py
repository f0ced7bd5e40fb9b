"""What can go wrong in the search, as one family.

```
StrategyError
├── UnknownStrategy     no strategy or preset has this name
├── OwnStrategyRefused  a person's own file that is missing, is no strategy, or changed since
├── SettingRefused      an unknown key, or a value out of its range
├── ProposalRefused     a proposal that would break the journal or the budget
├── StateRefused        a dumped state that this version cannot take up
├── ContextRefused      a prompt was asked for without what it must show
└── TemplateRefused     a prompt template that is missing, or holds a placeholder nobody fills
```
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class StrategyError(ValueError):
    """Any refusal of this room; its message is one a person can act on."""


class UnknownStrategy(StrategyError):
    """No strategy or preset has the name."""


class OwnStrategyRefused(StrategyError):
    """A person's own file cannot be used as a strategy."""


class SettingRefused(StrategyError):
    """A setting's key is unknown, or its value is out of range."""


class ProposalRefused(StrategyError):
    """A proposal would break the journal or the budget."""


class StateRefused(StrategyError):
    """A dumped state is of a version, or in a form, that cannot be taken up."""


class ContextRefused(StrategyError):
    """A prompt was asked for without what it must show."""


class TemplateRefused(StrategyError):
    """A prompt template is missing or malformed."""


def hint(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence: `; did you mean 'nearest'?`, or `.` when none is close."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else "."


def check_version(name: str, version: int, state: Mapping[str, object]) -> None:
    """Refuse a state that another version of a strategy saved.

    Raises:
        StateRefused: it says which version saved it, and what to do.
    """
    found = state.get("version")
    if found != version:
        message = f"This search was saved by version {found} of {name}; here is version {version}."
        raise StateRefused(f"{message} Resume it with the workbench that saved it.")
