"""Builds of extensions, apart from the processes that want them: each in a sandbox of its own, each kept.

```
worker: load_inline ─▶ torch writes sources and build.ninja ─▶ need_build ─▶ recipe ─▶ kept? ─▶ copy of the library
                                                                              └─▶ sandbox: compile, link ─▶ kept
```
The key is a digest of sources, flags, torch, tools and architecture. Key and content are the server's: a process that
runs a candidate gets a copy of what another build made from the same text, and can change only that copy.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, cast

import anyio
import anyio.abc
import anyio.to_thread

from mcp_server import child, folders, headers, machine, recipes
from mcp_server.environment import build_jobs, environment
from mcp_server.recipes import Recipe, Refused, Uncaught
from mcp_server.sandbox import PACKAGE

if TYPE_CHECKING:
    from mcp_server.child import Child
    from mcp_server.folders import Workspace
    from mcp_server.recipes import Source
    from mcp_server.sandbox import Sandbox

log = logging.getLogger(__name__)

PROGRAM = PACKAGE / "builder_program.py"
LOG = "build.log"
"""As the worker knows it."""
Said = Literal["built", "failed", "late", "refused", "left"]
_KEPT_BUILDS = 400
_LIBRARY_BYTES = 512 * 1024 * 1024
_PAUSE_LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a build."""

    said: Said
    """`left`: of no usual form, so the candidate's own sandbox builds it."""
    log: str = ""
    cause: str = ""
    seconds: float = 0.0
    """In the compiler; 0 where it was kept."""
    kept: bool = False
    """Whether an earlier build's result was taken."""
    stand_in: bool = False
    """Whether light headers stood before torch's."""
    waited_s: float = 0.0
    """Until there was room to start."""
    cpu_s: float = 0.0


@dataclass(slots=True)
class Builder:
    """The builds of one device's room, and what is kept of them."""

    sandbox: Sandbox
    workspace: Workspace
    home: Path
    group: anyio.abc.TaskGroup
    _room: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(slots()))
    _running: list[Child] = field(default_factory=list["Child"])
    _paused: bool = False
    _same: dict[str, anyio.Lock] = field(default_factory=dict[str, anyio.Lock])
    _made_here: dict[str, str] = field(default_factory=dict[str, str])
    """Digests of the libraries that this server built, by key."""
    _count: int = 0

    async def build(self, scratch: Path, seen: str, limit_s: float) -> Built:
        """Build what a folder in a worker's scratch asks for, and put the library there.

        Args:
            scratch: of the worker, on the host; nothing in it is believed.
            seen: the folder, as the worker names it.
            limit_s: for the compiler, once it runs.
        """
        try:
            folder = self._inside(scratch, seen)
            recipe = await anyio.to_thread.run_sync(self._read, folder, seen)
        except Uncaught as reason:
            log.info("a build stays in its own sandbox: %s", reason)
            return Built("left", cause=str(reason))
        except Refused as reason:
            return Built("refused", cause=str(reason))
        key = self._key(recipe)
        async with self._same.setdefault(key, anyio.Lock()):
            found = await anyio.to_thread.run_sync(self._kept, key)
            if found is None:
                found = await self._made(recipe, key, limit_s)
        await anyio.to_thread.run_sync(self._deliver, found, recipe, key, folder)
        return found

    def pause(self, *, on: bool) -> None:
        """Stop the compilers, or let them go on; their limit stops, too."""
        self._paused = on
        for process in self._running:
            process.pause(on=on)

    # --- the recipe ---------------------------------------------------------------------------------

    def _inside(self, scratch: Path, seen: str) -> Path:
        """Return where a folder lies that a worker names; it must be in its scratch, by no link."""
        name = PurePosixPath(seen)
        try:
            part = name.relative_to(self.sandbox.scratch_seen(scratch))
        except ValueError as error:
            raise Uncaught("a folder that lies elsewhere") from error
        place = Path(os.path.realpath(scratch), part)
        if ".." in name.parts or os.path.realpath(place) != str(place):
            raise Uncaught("a folder that lies elsewhere")
        return place

    def _read(self, folder: Path, seen: str) -> Recipe:
        if folder.is_symlink() or not folder.is_dir():
            raise Uncaught("no folder")
        allowed = [*self.sandbox.interpreter.reads, "/usr"]
        allowed += [home] if (home := machine.cuda_home()) else []
        return recipes.read(folder, seen, allowed)

    def _key(self, recipe: Recipe) -> str:
        interpreter = self.sandbox.interpreter
        tools = [_version(words[0]) for words in recipe.compilers.values()]
        place = "" if self.sandbox.level == "bwrap" else str(self.workspace.path)
        facts = [recipe.digest, interpreter.torch, interpreter.executable, tools, place]
        return hashlib.sha256(json.dumps([*facts, headers.digest()]).encode()).hexdigest()

    # --- what is kept -------------------------------------------------------------------------------

    @property
    def _store(self) -> Path:
        """The folder of kept builds: this server's own where a candidate can write the home folder."""
        fenced = self.sandbox.level != "process"
        return (self.home / "cache" if fenced else self.workspace.path) / "extensions"

    def _kept(self, key: str) -> Built | None:
        place = self._store / key
        try:
            said: object = json.loads((place / "said.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        facts = cast("dict[str, object]", said) if isinstance(said, dict) else {}
        outcome = "built" if facts.get("said") == "built" else "failed"
        if outcome == "built" and not self._whole(key, place / "library", str(facts.get("sha256"))):
            return None
        with suppress(OSError):
            os.utime(place)
        stand_in = facts.get("stand_in") is True
        return Built(outcome, log=str(facts.get("log")), kept=True, stand_in=stand_in)

    def _whole(self, key: str, library: Path, digest: str) -> bool:
        """Whether a library is the one that was kept; without a fence, the one that this server made."""
        wanted = self._made_here.get(key) if self.sandbox.level == "process" else digest
        try:
            return hashlib.sha256(library.read_bytes()).hexdigest() == wanted
        except OSError:
            return False

    def _keep(self, key: str, found: Built, library: Path | None) -> None:
        facts: dict[str, object] = {
            "said": found.said,
            "log": found.log,
            "stand_in": found.stand_in,
        }
        part = self._store / f".{key}.{os.getpid()}"
        with suppress(OSError):
            part.mkdir(parents=True, exist_ok=True)
            if library is not None:
                shutil.copyfile(library, part / "library", follow_symlinks=False)
                digest = hashlib.sha256((part / "library").read_bytes()).hexdigest()
                facts["sha256"] = self._made_here[key] = digest
            (part / "said.json").write_text(json.dumps(facts), encoding="utf-8")
            folders.remove(self._store / key)
            part.rename(self._store / key)
            self._forget_old()

    def _forget_old(self) -> None:
        kept = [p for p in self._store.iterdir() if not p.name.startswith(".")]
        kept.sort(key=lambda p: p.stat().st_mtime)
        for old in kept[:-_KEPT_BUILDS]:
            folders.remove(old)

    def _deliver(self, found: Built, recipe: Recipe, key: str, folder: Path) -> None:
        """Put the library, or the compiler's words, into the worker's folder; it may spoil its own copy only."""
        with suppress(OSError):
            if found.said == "built":
                _put(folder / recipe.target, (self._store / key / "library").read_bytes())
            elif found.said == "failed":
                _put(folder / LOG, found.log.encode())

    # --- building -----------------------------------------------------------------------------------

    async def _made(self, recipe: Recipe, key: str, limit_s: float) -> Built:
        asked = time.monotonic()
        async with self._room:
            waited_s = time.monotonic() - asked
            self._count += 1
            scratch = self.workspace.fresh(f"b{self._count}-{key[:8]}")
            try:
                found = await self._compile(recipe, key, scratch, limit_s)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(folders.remove, scratch)
        return replace(found, waited_s=waited_s)

    async def _compile(self, recipe: Recipe, key: str, scratch: Path, limit_s: float) -> Built:
        began = time.monotonic()
        process = await self._start(recipe, scratch)
        self._running.append(process)
        process.look_every_s = child.CLOSELY_S
        try:
            ended = await self._wait(process, limit_s)
        finally:
            with anyio.CancelScope(shield=True):
                process.count_cpu()
                await process.kill()
            self._running.remove(process)
        took_s, ending = time.monotonic() - began, process.ending()
        if not ended:
            return Built("late", seconds=took_s, cpu_s=ending.cpu_s)
        said = ending.stdout + ending.stderr
        if ending.cause is not None:
            said += f"\nerror: the build was ended, it passed a limit ({ending.cause})"
        steps = _report(scratch)
        library = scratch / recipe.target
        good = ending.exit == 0 and _plain(library)
        stand_in = any(s.get("stand_in") and not s.get("fell_back") for s in steps)
        outcome: Said = "built" if good else "failed"
        found = Built(outcome, said, "", took_s, stand_in=stand_in, cpu_s=ending.cpu_s)
        if ending.cause is None:
            await anyio.to_thread.run_sync(self._keep, key, found, library if good else None)
        return found

    async def _wait(self, process: Child, limit_s: float) -> bool:
        """Wait until it has ended; the time in which it is paused does not count."""
        left_s, last = limit_s, time.monotonic()
        while left_s > 0:
            with anyio.move_on_after(_PAUSE_LOOK_S):
                await process.ended.wait()
                return True
            now = time.monotonic()
            left_s -= 0.0 if self._paused else now - last
            last = now
        return False

    async def _start(self, recipe: Recipe, scratch: Path) -> Child:
        device = replace(self.sandbox.device, nodes=())
        sandbox = replace(self.sandbox, device=device)
        seen = sandbox.scratch_seen(scratch)
        stand_ins = self.workspace.path / "headers"
        if not stand_ins.is_dir():
            headers.write(stand_ins)
        for source in recipe.sources:
            (scratch / source.name).write_bytes(source.text)
        plan = _plan(recipe, seen, stand_ins)
        (scratch / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        values = environment(sandbox.interpreter, self.sandbox.device, seen, touches_gpu=False)
        python = sandbox.interpreter.executable
        argv = [python, "-I", "-S", "-B", str(PROGRAM), f"{seen}/plan.json"]
        reads = (str(PROGRAM), str(stand_ins))
        process = await child.start(sandbox, argv, scratch, values, reads=reads)
        self.group.start_soon(process.attend)
        if self._paused:
            process.pause(on=True)
        return process


def slots() -> int:
    """Return how many builds run at once: each has about two files."""
    return max(1, build_jobs() // 2)


def _plan(recipe: Recipe, seen: str, stand_ins: Path) -> dict[str, object]:
    steps = [_step(recipe, source, seen, stand_ins) for source in recipe.sources]
    objects = [f"{seen}/{source.name}.o" for source in recipe.sources]
    link = [*recipe.compilers["cxx"], *objects, *recipe.flags["ldflags"]]
    return {
        "jobs": max(1, min(len(steps), build_jobs())),
        "cores": max(1, machine.cores() - 2),
        "steps": steps,
        "link": [*link, "-o", f"{seen}/{recipe.target}"],
    }


def _step(recipe: Recipe, source: Source, seen: str, stand_ins: Path) -> dict[str, object]:
    first, before, after = (
        ("nvcc", "cuda_cflags", "cuda_post_cflags")
        if source.is_cuda
        else (("cxx", "cflags", "post_cflags"))
    )
    rest = [*recipe.flags[before], "-c", f"{seen}/{source.name}", "-o", f"{seen}/{source.name}.o"]
    rest += recipe.flags[after]
    command = list(recipe.compilers[first])
    # Told of on the way, nothing in the object changes: registers and spills of each kernel.
    command += ["--resource-usage"] if source.is_cuda else []
    light = headers.fit(source.text.decode("utf-8", "replace"))
    if light is None:
        return {"name": source.name, "argv": [*command, *rest], "fallback": None, "stand_in": False}
    lighter = [*command, f"-I{stand_ins / light}", *rest]
    return {
        "name": source.name,
        "argv": lighter,
        "fallback": [*command, *rest],
        "stand_in": True,
    }


def _report(scratch: Path) -> list[dict[str, object]]:
    try:
        rows: object = json.loads((scratch / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return cast("list[dict[str, object]]", rows) if isinstance(rows, list) else []


def _plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= _LIBRARY_BYTES


def _put(path: Path, data: bytes) -> None:
    """Write a file where another process may have left a link."""
    with suppress(OSError):
        path.unlink()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o700)
    with os.fdopen(fd, "wb") as file:
        file.write(data)


@lru_cache(maxsize=8)
def _version(tool: str) -> str:
    """Return a tool's path, size and time: what it is, without running it."""
    path = shutil.which(tool) or tool
    real = os.path.realpath(path)
    with suppress(OSError):
        facts = Path(real).stat()
        return f"{real} {facts.st_size} {facts.st_mtime_ns}"
    return real
