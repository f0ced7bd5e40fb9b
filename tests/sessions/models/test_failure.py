from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.models.failure import of_status, retry_after_s

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 12:02:00 GMT"}, 120.0),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers, NOON) == seconds


@pytest.mark.parametrize(
    ("status", "kind", "text", "code"),
    [
        (401, "", "who are you", "bad_key"),
        (403, "", "not from here", "bad_key"),
        (400, "INVALID_ARGUMENT", "API key not valid", "bad_key"),
        (429, "insufficient_quota", "You exceeded your current quota", "bad_key"),
        (400, "", "Your credit balance is too low", "bad_key"),
        (404, "", "", "unknown_model"),
        (400, "", "foo/bar is not a valid model ID", "unknown_model"),
        (408, "", "", "timeout"),
        (409, "", "", "server"),
        (429, "", "", "rate_limit"),
        (500, "", "", "server"),
        (529, "", "", "server"),
        (413, "", "", "other"),
    ],
)
def test_a_status_means_the_same_for_all_vendors(
    status: int, kind: str, text: str, code: str
) -> None:
    assert of_status(status, kind, text, {}).code == code


@settings(deadline=None)
@given(st.integers(400, 599), st.text(max_size=2000))
def test_whatever_a_server_says_the_message_is_one_short_line(status: int, text: str) -> None:
    failure = of_status(status, text, text, {})
    assert len(failure.message) < 400
    assert "\n" not in failure.message
    assert not (failure.again and failure.refused)
