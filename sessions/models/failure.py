"""Why one try got no answer, read from a vendor's status, headers and body in one way for all.

| status | is | tried again |
| --- | --- | --- |
| 401, 403, a key called invalid | bad key | no |
| 402, quota used up | no credit: the key is of no use | no |
| 404, a model called unknown | unknown model | no |
| 408, 409, 425, 429, 5xx, no connection, no end | rate limit, server, network, timeout | yes |
| other | other | no |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MESSAGE = 300
_KEY_WORDS = ("api_key_invalid", "api key not valid", "invalid api key", "invalid x-api-key")
_CREDIT_WORDS = ("insufficient_quota", "credit balance", "insufficient credits", "billing")
_MODEL_WORDS = ("model_not_found", "not a valid model", "unknown model", "no such model")


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with one try."""

    code: str
    """`bad_key`, `unknown_model`, `bad_settings`, `rate_limit`, `server`, `timeout`, `network`, `other`."""
    message: str
    """One line for a person, without secrets."""
    retry_after_s: float | None = None
    """What the vendor asked for."""

    def without(self, secret: str) -> Failure:
        """Return the failure with a secret masked in its message: some hosts repeat what they got."""
        return replace(self, message=self.message.replace(secret, "[key]")) if secret else self

    @property
    def again(self) -> bool:
        """Whether another try may help."""
        return self.code in ("rate_limit", "server", "timeout", "network")

    @property
    def refused(self) -> bool:
        """Whether the provider refused to be asked at all."""
        return self.code in ("bad_key", "unknown_model", "bad_settings")


class TryFailed(Exception):
    """One try got no answer."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def of_status(status: int, kind: str, text: str, headers: Mapping[str, str]) -> Failure:
    """Return what an HTTP status with its body means. `kind` and `text` may be anything a server sends."""
    said = " ".join(text.split())[:_MESSAGE]
    low = f"{kind} {text}".lower()
    code = _refusal(status, low) or _passing(status)
    wait_s = retry_after_s(headers, datetime.now(UTC)) if code in ("rate_limit", "server") else None
    return Failure(code, _told(status, code, said, low), wait_s)


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds of a Retry-After header, which holds seconds or a date; None without one."""
    milliseconds = headers.get("retry-after-ms", "")
    if _is_number(milliseconds):
        return float(milliseconds) / 1000
    value = headers.get("retry-after", "").strip()
    if _is_number(value):
        return float(value)
    try:
        then = parsedate_to_datetime(value)
    except ValueError:
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds())


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _refusal(status: int, low: str) -> str:
    if status in (401, 402, 403) or (status == 400 and _any(_KEY_WORDS, low)):
        return "bad_key"
    if status in (400, 429) and _any(_CREDIT_WORDS, low):
        return "bad_key"
    if status == 404 or (status == 400 and _any(_MODEL_WORDS, low)):
        return "unknown_model"
    return ""


def _any(words: tuple[str, ...], low: str) -> bool:
    return any(word in low for word in words)


def _passing(status: int) -> str:
    if status == 429:
        return "rate_limit"
    if status == 408:
        return "timeout"
    return "server" if status in (409, 425) or status >= 500 else "other"


def _told(status: int, code: str, said: str, low: str) -> str:
    match code:
        case "bad_key" if status == 402 or _any(_CREDIT_WORDS, low):
            return f"says that the account has no credit left (HTTP {status})"
        case "bad_key":
            # Without the vendor's words, which may repeat a part of the key.
            return f"refused the key (HTTP {status})"
        case "rate_limit":
            return f"rate limit (HTTP {status})"
        case _:
            return f"HTTP {status}: {said}" if said else f"HTTP {status}"
