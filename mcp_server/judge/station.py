# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""One worker as the judge uses it: models in it, sets of inputs staged, secret reveals, what a message costs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from mcp_server.judge.faults import Fault
from mcp_server.judge.inputs import Draw, Patch, Staged
from mcp_server.judge.oracle import secret
from mcp_server.judge.sources import Sources
from mcp_server.judge.statistics import deviation, median
from mcp_server.worker.program import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from torch import Tensor

    from mcp_server.judge.inputs import Draw
    from mcp_server.judge.state import TaskState
    from mcp_server.judge.worker_link import Called, Worker

    Build = Callable[[str], dict[str, Any]]
    """Given a folder in the worker's scratch, has it built, and returns what the worker is told."""

ROTATION_LIMIT_BYTES = 256 * 1024**2
"""A virtual machine reports its host's cache; more than this is never staged."""
MOST_SETS = 16
MOST_BUILDS = 32
"""Extensions that one source may have built."""


@dataclass(frozen=True, slots=True)
class Loading:
    """How a source is to be loaded."""

    source: str
    class_name: str
    cast: str | None = None
    autocast: str | None = None
    compile: bool = False
    mode: str | None = None
    """How it is compiled: a mode of torch.compile, `graphed` or `tensorrt`; None for the default."""
    tf32: bool | None = None
    interpret: bool = False
    noise: int | None = None


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """What a message costs that applies a reveal and runs nothing, in seconds."""

    median_s: float
    deviation_s: float
    own_s: float
    """The part of it that the worker's clock sees."""


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """Compute on one thread while the clock runs: a pool that wakes and spins beside a worker costs milliseconds.

    Seen on an H200 with 16 cores: the noise floor of a 1 ms call fell from 0.54 to 0.07.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Station:
    """A worker, its staged sets, and the secret generator that changes them."""

    def __init__(self, worker: Worker, state: TaskState, *, measured: bool = True) -> None:
        self.worker = worker
        self.state = state
        self.generator = torch.Generator().manual_seed(secret(state.generator))
        self.sources = Sources(state, self.generator)
        self.sets: list[Staged] = []
        self.turn = 0
        self.flush_bytes = flush_bytes(state.task.device)
        entries = list(state.entries.kept)
        for number in range(number_of_sets(entries[0].draw, state.task.device)):
            draw = entries[-1 - number % len(entries)].draw
            self._stage(Staged(number, draw, state.most_changes))
        self.round_trip = RoundTrip(0.0, 0.0, 0.0)
        if measured:
            self.measure_round_trip()

    def _stage(self, staged: Staged) -> None:
        spec = {
            "tree": staged.draw.tree,
            "leaves": staged.draw.metas,
            "most_changes": staged.most_changes,
        }
        self.sets.append(staged)
        self._fill(staged, self.worker.text(spec), [])

    def _fill(self, staged: Staged, text: dict[str, int], pattern: list[int]) -> None:
        data = self.worker.put(staged.leaves)
        self.worker.request("STAGE", 60, set=staged.number, data=data, pattern=pattern, **text)

    def pattern_memory(self, staged: Staged) -> None:
        """Fill the set anew, and leave a pattern where an answer's memory will come from."""
        like = self.state.like.leaves
        sizes = [x.numel() * x.element_size() for x in like if x.numel()][:64]
        self._fill(staged, {"at": 0, "size": 0}, sizes)

    @quiet()
    def measure_round_trip(self) -> RoundTrip:
        """Measure what a message costs, now, and keep it."""
        took: list[float] = []
        own: list[float] = []
        while len(took) < 200 and (sum(took) < 0.3 or len(took) < 20):
            called = self._only_changed(*self.reveal(self.next_set()))
            took.append(called.took_s)
            own.append(called.own_s)
        self.round_trip = RoundTrip(median(took), deviation(took), median(own))
        return self.round_trip

    # --- models

    def load(
        self, slot: str, loading: Loading, deadline_s: float, build: Build | None = None
    ) -> float:
        """Run the source in the worker; return the seconds it took."""
        tree, metas, leaves = self.state.task.init_tree(self.state.reference.seed)
        spec = {
            "source": loading.source,
            "class": loading.class_name,
            "seed": self.state.reference.seed,
            "init": tree,
            "init_leaves": metas,
            "init_at": self.worker.put(leaves),
            "cast": loading.cast,
            "autocast": loading.autocast,
            "compile": loading.compile,
            "mode": loading.mode,
            "tf32": loading.tf32,
            "interpret": loading.interpret,
            "noise": loading.noise,
        }
        text = self.worker.text(spec)
        with late_as("build"):
            answer = self._load(deadline_s, build, slot=slot, phase="import", **text)
        own_s = answer.get("own_s")
        return float(own_s) if isinstance(own_s, int | float) else 0.0

    def _load(self, deadline_s: float, build: Build | None, **fields: Any) -> dict[str, Any]:
        """Ask for a loading, and for the builds that the source wants on the way."""
        answer = self.worker.request("LOAD", deadline_s, builds=build is not None, **fields)
        for _ in range(MOST_BUILDS):
            if build is None or "build" not in answer:
                return answer
            told = build(str(answer["build"])[:1000])
            answer = self.worker.request("BUILT", deadline_s, **told)
        raise Fault("compile_error", "build_failed", "The candidate builds too many extensions.")

    def construct(self, slot: str, deadline_s: float, build: Build | None = None) -> dict[str, Any]:
        """Make the model from what was loaded, and give it the secret weights.

        Returns what the worker says of them: `missing` names, `prepare_s`.
        """
        _, _, leaves = self.state.task.init_tree(self.state.reference.seed)
        self.worker.put(leaves)
        with late_as("construct"):
            self._load(deadline_s, build, slot=slot, phase="construct")
            return self._give_weights(slot, deadline_s)

    def _give_weights(self, slot: str, deadline_s: float) -> dict[str, Any]:
        noisy = self.state.reference.noise is not None
        weights = {} if noisy else self.state.reference.weights
        metas = [describe(value) for value in weights.values()]
        spec = {"names": list(weights), "leaves": metas}
        text = self.worker.text(spec)
        data = self.worker.put(list(weights.values()))
        return self.worker.request("STATE", deadline_s, slot=slot, data=data, **text)

    # --- calls

    def next_set(self) -> Staged:
        """Return the set whose turn it is."""
        self.turn = (self.turn + 1) % len(self.sets)
        return self.sets[self.turn]

    def reveal(self, staged: Staged) -> tuple[Staged, Patch]:
        """Draw a secret change of the set and make it in the judge's copy."""
        return self._changed(staged, self.sources.usual(), self.state.reveal)

    def replace(self, staged: Staged) -> tuple[Staged, Patch]:
        """Draw new values for the whole set and put them into the judge's copy."""
        return self._changed(staged, self.sources.whole(), "whole")

    def stage_anew(self, count: int) -> None:
        """Give the sets whose turns come next inputs that are all new, and run nothing on them."""
        turn = self.turn
        for _ in range(count):
            self._only_changed(*self.replace(self.next_set()))
        self.turn = turn

    def _only_changed(self, staged: Staged, patch: Patch) -> Called:
        """Make a change in the worker, and run nothing on it."""
        return self.worker.call("NOP", 60, patch, set=staged.number)

    def _changed(self, staged: Staged, source: Draw, how: str) -> tuple[Staged, Patch]:
        patch = staged.change(source, self.generator, how)
        staged.apply(patch)
        return staged, patch

    def call(self, slot: str, staged: Staged, patch: Patch, deadline_s: float) -> Called:
        """Call the model once, on the set with that change."""
        seed = secret(self.generator) % 2**31
        return self.worker.call("CALL", deadline_s, patch, slot=slot, set=staged.number, seed=seed)

    def profile(self, slot: str, calls: int, deadline_s: float) -> dict[str, Any]:
        """Return what torch.profiler sees of that many calls; the worker's word, for no verdict."""
        sets = [staged.number for staged in self.sets]
        return self.worker.table("PROFILE", deadline_s, slot=slot, sets=sets, calls=calls)


class late_as:  # noqa: N801  reads as a clause: `with late_as("build")`
    """Name the stage in a timeout that happens inside."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, Fault) and error.status == "timeout":
            error.code = self.code
            error.cause = _LATE[self.code]
            error.args = (error.cause,)


_LATE = {
    "build": "Importing the candidate took too long.",
    "construct": "Constructing ModelNew took too long.",
    "first_call": "The first call took too long.",
    "call": "A call took too long.",
}


def number_of_sets(draw: Draw, device: str) -> int:
    """Return how many sets in rotation exceed four times the last cache, within reason."""
    wanted = min(4 * cache_bytes(device), ROTATION_LIMIT_BYTES)
    return max(3, min(MOST_SETS, -(-wanted // max(1, draw.bytes))))


def cache_bytes(device: str) -> int:
    """Return the size of the last cache of the device."""
    if device != "cpu":
        return int(torch.cuda.get_device_properties(device).L2_cache_size)
    sizes = [_size(path) for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max(sizes, default=32 * 1024**2)


def _size(path: Path) -> int:
    units = {"K": 1024, "M": 1024**2, "G": 1024**3}
    try:
        text = path.read_text(encoding="ascii").strip()
        return int(text.rstrip("KMG")) * units.get(text[-1], 1)
    except (OSError, ValueError):
        return 0


def flush_bytes(device: str) -> int:
    """Return what is read and written between calls to cool the cache: 2 × L2; nothing on a CPU."""
    return 0 if device == "cpu" else 2 * cache_bytes(device)


def same_bytes(one: Tensor, two: Tensor) -> bool:
    """Return whether two byte tensors are equal."""
    return one.shape == two.shape and bool(torch.equal(one, two))
