"""Ways in which judging ends before its last stage.

```
Exception
├── Fault           a verdict: status, code and one sentence
├── WorkerEnded     the worker's socket closed; what it printed tells why
└── Cancelled       the caller no longer wants the answer
```
"""

from __future__ import annotations


class Fault(Exception):
    """A verdict other than `ok`: status and code of the contract, and a sentence without secrets."""

    def __init__(self, status: str, code: str, cause: str) -> None:
        super().__init__(cause)
        self.status = status
        self.code = code
        self.cause = cause
        self.details: dict[str, object] = {}
        """Further fields of the verdict."""


class WorkerEnded(Exception):
    """The worker's end of the socket is closed although it had not been told to end."""


class Cancelled(Exception):
    """The server withdrew the request."""


def lost(cause: str) -> Fault:
    """Return the fault of a worker that failed through no candidate's doing."""
    return Fault("infra_error", "worker_lost", cause)


def unstable(cause: str) -> Fault:
    """Return the fault of a machine too busy for its clock to be believed; whoever asks may try again."""
    return Fault("infra_error", "unstable_clock", cause)


def unfit(code: str, cause: str) -> Fault:
    """Return the fault of a task that cannot judge candidates."""
    return Fault("task_unfit", code, cause)


def wrong(code: str, cause: str) -> Fault:
    """Return the fault of an answer that differs from the reference's."""
    return Fault("wrong_result", code, cause)


def rejected(code: str, cause: str) -> Fault:
    """Return the fault of a candidate that does not do the work it is timed for."""
    return Fault("rejected", code, cause)
