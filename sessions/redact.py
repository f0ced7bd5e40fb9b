"""Secrets out of text before it is stored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MASK = "[redacted]"
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 8


def secrets_of(environ: Mapping[str, str], extra: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the values of variables whose names say that they are secret, longest first.

    `extra`: further names, such as a model's `key_env`.
    """
    names = {name for name in environ if is_secret(name)} | set(extra)
    values = {environ.get(name, "") for name in names}
    return tuple(sorted((v for v in values if len(v) >= _SHORTEST), key=len, reverse=True))


def is_secret(name: str) -> bool:
    """Return whether a variable's name says that it holds a secret."""
    return _SECRET_NAME.search(name) is not None


class Redactor:
    """Masks known secrets."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Remember what to mask."""
        self._secrets = tuple(secrets)

    def text(self, text: str) -> str:
        """Return the text with every secret masked."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text

    def data(self, value: Any) -> Any:
        """Return JSON with every secret in its strings masked."""
        if not self._secrets:
            return value
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.data(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
            case dict():
                return {k: self.data(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
            case _:
                return value
