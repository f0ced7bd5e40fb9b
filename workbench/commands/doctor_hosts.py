"""The machines that evaluate, as a table or as JSON: `pike doctor --executor …`, and with `[evaluators.NAME]`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench import hosts
from workbench.errors import DONE, FAILED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.hosts import Host, Place
    from workbench.printing import Printer

HEAD = (
    "",
    "evaluator",
    "host",
    "device",
    "model",
    "uuid",
    "free/of",
    "sandbox",
    "torch",
    "CUDA",
    "driver",
    "pike",
    "judge",
)
UUID_CHARACTERS, DIGEST_CHARACTERS = 12, 8
LEFT_OUT = "left out"


def as_json(found: Sequence[Host]) -> list[dict[str, Any]]:
    """Return each machine as plain data, whole, with what is wrong or worth knowing."""
    return [asdict(host) | {"warnings": list(host.warnings)} for host in found]


def code(found: Sequence[Host]) -> int:
    """Return 1 if no machine can be used."""
    return DONE if any(not host.problem for host in found) else FAILED


def tell(found: Sequence[Host], printer: Printer) -> None:
    """Print a row per device, then what is wrong in plain words."""
    printer.table(HEAD, [row for host in found for row in _rows(host)], right=("free/of",))
    for host in found:
        for told in (host.problem, *host.warnings):
            if told:
                printer.talk(f"{_named(host)}: {told}")
    mixed = hosts.mixed(found)
    if mixed:
        printer.talk(f"{mixed}.")


def _named(host: Host) -> str:
    return " ".join(dict.fromkeys(filter(None, (host.evaluator, host.name))))


def _rows(host: Host) -> list[tuple[str, ...]]:
    sign = LEFT_OUT if host.problem else "!" if host.warnings else "ok"
    first = (sign, host.evaluator, host.name)
    used = host.gpus or host.places
    cells = [_cells(host, place) for place in used] or [("",) * (len(HEAD) - len(first))]
    return [(*(first if n == 0 else ("",) * len(first)), *row) for n, row in enumerate(cells)]


def _cells(host: Host, place: Place) -> tuple[str, ...]:
    missing = f" without {', '.join(host.sandbox_missing)}" if host.sandbox_missing else ""
    versions = (host.torch, host.cuda, host.driver, host.pike, host.judge[:DIGEST_CHARACTERS])
    room = f"{place.free}/{place.of}"
    uuid = place.uuid[:UUID_CHARACTERS]
    return (place.device, place.model, uuid, room, f"{host.sandbox}{missing}", *versions)
