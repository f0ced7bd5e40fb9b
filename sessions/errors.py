"""What can go wrong around a session, as one family; each message says what to do next.

```
SessionError
├── NoSuchSession        no session has the name; near ones are listed
├── AmbiguousSession     several begin with it
├── FolderUnusable       the state folder cannot be read or written
├── NameTaken            a session of that name exists
├── SessionBusy          another engine runs it, here or on another host
├── StartRefused         the request for a session contradicts itself
├── CommandRefused       a command nobody could carry out
├── StorageFailed        the journal cannot be written any more
├── LineageError         git is missing, or failed
└── EvaluatorError
    ├── EvaluatorAbsent  none can be reached: an ordinary waiting state
    │   └── DeviceAbsent it has not the session's device, or another model of it
    ├── EvaluatorLost    it died with the job
    ├── JobUnknown       it does not know the job (any more)
    └── EvaluatorRefused the caller's mistake: unknown task, no such device
```
Journals have their own three in `journal.py`, language models theirs in `models/port.py`.
"""

from __future__ import annotations


class SessionError(Exception):
    """Any of the family; the message is for a person."""


class NoSuchSession(SessionError):
    """No session has the name."""


class AmbiguousSession(SessionError):
    """Several sessions begin with it."""


class FolderUnusable(SessionError):
    """The state folder cannot be read or written."""


class NameTaken(SessionError):
    """A session of that name exists."""


class SessionBusy(SessionError):
    """Another engine runs it."""


class StartRefused(SessionError):
    """The request for a session contradicts itself."""


class CommandRefused(SessionError):
    """Nobody could carry the command out."""


class StorageFailed(SessionError):
    """The journal cannot be written any more."""


class LineageError(SessionError):
    """Git is missing, or failed."""


class EvaluatorError(SessionError):
    """An evaluation that gave no verdict."""


class EvaluatorAbsent(EvaluatorError):
    """No evaluator can be reached; the search waits for one."""


class DeviceAbsent(EvaluatorAbsent):
    """What can be reached lacks the session's device, or has another model of it."""


class EvaluatorLost(EvaluatorError):
    """The evaluator died with the job."""


class JobUnknown(EvaluatorError):
    """The evaluator does not know the job."""


class EvaluatorRefused(EvaluatorError):
    """The evaluator refused the call: unknown task, no such device."""
