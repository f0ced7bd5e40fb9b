"""What crosses to another host, as JSON bytes: of the same package and evaluator on both sides, else refused.

```
{"format": 1, "pike": version, "evaluator": digest, "kind": "work", "body": {…}}
```

Nothing is unpickled. Missing and unknown fields are refused: a field that one side does not know would be judged by
its default, and verdicts of different rules would be mixed.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from pydantic import ValidationError

from mcp_server import errors, qualify, release
from mcp_server.contract import Verdict
from mcp_server.errors import EvaluatorError, Unreadable
from mcp_server.evaluate import StageLimits
from mcp_server.executor import HostFacts, Outcome, Place, Told, Work
from mcp_server.pool import Programs
from mcp_server.sandbox import Limits
from mcp_server.setting import Setting
from mcp_server.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp_server.link import Message

FORMAT = 1
Kind = Literal["work", "outcome", "host", "told", "setting"]

_Types = type | tuple[type, ...]
_TEXT_OR_NONE = (str, type(None))
_TASK: Mapping[str, _Types] = {
    "id": str,
    "title": str,
    "source": str,
    "path": str,
    "by_agent": bool,
    "reads": list,
}
_WORK: Mapping[str, _Types] = {
    "id": str,
    "task": dict,
    "source": str,
    "device": str,
    "precision": str,
    "tolerance": str,
    "beat": (float, int, type(None)),
    "mode": str,
    "stages": list,
    "attempt_id": _TEXT_OR_NONE,
    "leased": bool,
    "device_name": str,
}
_OUTCOME: Mapping[str, _Types] = {
    "verdict": dict,
    "build_log": str,
    "output": str,
    "evidence": dict,
}
_PLACE: Mapping[str, _Types] = {
    "host": str,
    "device": str,
    "device_uuid": str,
    "device_name": str,
    "free": int,
    "of": int,
    "ahead": int,
}
_LINES = ("devices", "device_titles", "builds", "machine", "baselines", "floors")
_TOLD: Mapping[str, _Types] = dict.fromkeys(_LINES, list)
_HOST: Mapping[str, _Types] = {
    **dict.fromkeys(("host", "pike", "evaluator", "python", "torch", "cuda", "driver"), str),
    "sandbox": str,
    "sandbox_missing": list,
    "places": list,
    "problem": str,
}


def pack(kind: Kind, body: Message) -> bytes:
    """Return an object with the stamp of who wrote it."""
    return json.dumps({"format": FORMAT, **_stamp(), "kind": kind, "body": body}).encode()


def unpack(kind: Kind, data: bytes) -> Message:
    """Return the object in bytes that the same version wrote.

    Raises:
        Unreadable: another version did, or it is damaged.
    """
    whole = _object(data)
    ours = _stamp()
    theirs = {name: str(whole.get(name)) for name in ours}
    if theirs != ours:
        raise Unreadable(versions_differ(theirs, ours))
    body = whole.get("body")
    if whole.get("format") != FORMAT or whole.get("kind") != kind or not isinstance(body, dict):
        raise Unreadable(f"A host sent what is no {kind}: install the same pike on all hosts.")
    return cast("Message", body)


def versions_differ(theirs: Mapping[str, str], ours: Mapping[str, str] | None = None) -> str:
    """Return a sentence on two versions that must not be mixed."""
    here = ours or _stamp()
    if theirs["pike"] != here["pike"]:
        what = f"pike {theirs['pike'][:40]}, and this is {here['pike']}"
    else:
        what = f"evaluator {theirs['evaluator'][:8]}, and this is {here['evaluator'][:8]}"
    return f"It runs {what}: their verdicts are not mixed; install the same on all hosts."


def is_ours(host: HostFacts) -> bool:
    """Return whether a host runs the same package and evaluator."""
    return {"pike": host.pike, "evaluator": host.evaluator} == _stamp()


def work_bytes(work: Work) -> bytes:
    """Return work for another host."""
    body = asdict(work)
    body["task"]["path"] = str(work.task.path)
    return pack("work", body)


def read_work(data: bytes) -> Work:
    """Return the work in bytes.

    Raises:
        Unreadable: another version wrote it, or it is damaged.
    """
    body = _checked("work", unpack("work", data), _WORK)
    task = _checked("task", cast("Message", body["task"]), _TASK)
    task |= {"path": Path(task["path"]), "reads": _texts("task", task["reads"])}
    body |= {"task": Task(**task), "stages": _texts("work", body["stages"])}
    return Work(**body)


def outcome_bytes(outcome: Outcome) -> bytes:
    """Return an outcome for the host that asked."""
    body = {name: getattr(outcome, name) for name in _OUTCOME}
    return pack("outcome", body | {"verdict": outcome.verdict.model_dump(mode="json")})


def read_outcome(data: bytes) -> Outcome:
    """Return the outcome in bytes.

    Raises:
        Unreadable: another version wrote it, or it is damaged.
    """
    body = _checked("outcome", unpack("outcome", data), _OUTCOME)
    _refuse_unknown("verdict", set(body["verdict"]), set(Verdict.model_fields))
    try:
        verdict = Verdict.model_validate(body["verdict"])
    except ValidationError as error:
        raise Unreadable(_odd("verdict", str(error.errors()[0]["loc"]))) from error
    body["verdict"] = verdict
    return Outcome(**body)


def host_bytes(host: HostFacts) -> bytes:
    """Return a host's facts; its stamp is that of the host."""
    return pack("host", asdict(host))


def read_host(data: bytes) -> HostFacts:
    """Return the facts of a host, of another version too: that is what they tell.

    Raises:
        Unreadable: it is damaged, or says nothing of its version.
    """
    whole = _object(data)
    theirs = {name: str(whole.get(name))[:80] for name in _stamp()}
    if theirs != _stamp():
        body = whole.get("body")
        name = cast("Message", body).get("host", "") if isinstance(body, dict) else ""
        problem = versions_differ(theirs)
        return HostFacts(str(name)[:80], theirs["pike"], theirs["evaluator"], problem=problem)
    body = _checked("host", unpack("host", data), _HOST)
    body["places"] = tuple(Place(**_checked("place", p, _PLACE)) for p in body["places"])
    body["sandbox_missing"] = _texts("host", body["sandbox_missing"])
    return HostFacts(**body)


def told_bytes(told: Told) -> bytes:
    """Return what is known of a task, for the host that asked."""
    return pack("told", asdict(told))


def read_told(data: bytes) -> Told:
    """Return what a host knows of a task.

    Raises:
        Unreadable: another version wrote it, or it is damaged.
    """
    body = _checked("told", unpack("told", data), _TOLD)
    return Told(**{name: _texts("told", lines) for name, lines in body.items()})


def setting_bytes(setting: Setting) -> bytes:
    """Return how the hosts are to evaluate; each has a state folder of its own."""
    body = asdict(setting)
    if setting.python and Path(setting.python).exists():
        body["python"] = str(Path(setting.python).absolute())
    body["lease_folder"] = str(setting.lease_folder) if setting.lease_folder else None
    del body["home"], body["executor"]
    return pack("setting", body)


def read_setting(data: bytes) -> Setting:
    """Return how to evaluate here, but for the state folder.

    Raises:
        Unreadable: another version wrote it, or it is damaged.
    """
    body = unpack("setting", data)
    inner: Mapping[str, Callable[..., object]] = {
        "programs": _programs,
        "stage_limits": StageLimits,
        "limits": Limits,
    }
    try:
        body |= {name: make(**body[name]) for name, make in inner.items()}
        body["lease_folder"] = Path(body["lease_folder"]) if body["lease_folder"] else None
        return Setting(Path(), **body)
    except (KeyError, TypeError) as error:
        raise Unreadable(
            _odd("setting", "a field is missing, unknown or of another kind")
        ) from error


def _programs(judge_reads: list[str], **names: str) -> Programs:
    return Programs(judge_reads=tuple(judge_reads), **names)


def refusal(error: EvaluatorError) -> Message:
    """Return a caller's mistake, or what a host lacks, as an object."""
    return {"error": type(error).__name__, "message": str(error)}


def refused(body: Message) -> EvaluatorError:
    """Return the error that a host raised."""
    kind: object = getattr(errors, str(body.get("error")), None)
    message = str(body.get("message"))[:2000]
    if isinstance(kind, type) and issubclass(kind, EvaluatorError):
        return kind(message)
    return EvaluatorError(message)


def _stamp() -> dict[str, str]:
    return {"pike": release.version(), "evaluator": qualify.evaluator_sha256()}


def _object(data: bytes) -> Message:
    try:
        whole: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable("A host sent what is not JSON: install the same pike there.") from error
    if not isinstance(whole, dict):
        raise Unreadable("A host sent no object: install the same pike there.")
    return cast("Message", whole)


def _checked(what: str, body: Message, types: Mapping[str, _Types]) -> Message:
    """Return an object whose fields are those of a table, each of its type."""
    if not isinstance(body, dict):  # pyright: ignore[reportUnnecessaryIsInstance] -- JSON from afar
        raise Unreadable(_odd(what, "it is no object"))
    _refuse_unknown(what, set(body), set(types))
    for name, kind in types.items():
        if name not in body or not isinstance(body[name], kind):
            raise Unreadable(_odd(what, f"{name} is missing or of another kind"))
    return dict(body)


def _refuse_unknown(what: str, fields: set[str], known: set[str]) -> None:
    unknown = sorted(fields - known)
    if unknown:
        raise Unreadable(_odd(what, f"unknown field {unknown[0][:40]!r}"))


def _texts(what: str, values: object) -> tuple[str, ...]:
    listed = cast("list[object]", values)
    if not all(isinstance(value, str) for value in listed):
        raise Unreadable(_odd(what, "a list holds what is no text"))
    return tuple(str(value) for value in listed)


def _odd(what: str, why: str) -> str:
    return f"A host sent a damaged {what} ({why}): install the same pike on all hosts."
