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
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

import anyio
import anyio.abc
import anyio.to_thread

from mcp_server import build_plan, child, folders, headers, machine, recipes
from mcp_server.build_plan import slots
from mcp_server.build_store import BuildStore, Built, Said, forget_old
from mcp_server.environment import environment
from mcp_server.recipes import Recipe, Refused, Uncaught
from mcp_server.sandbox import PACKAGE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp_server.child import Child, Ending
    from mcp_server.folders import Workspace
    from mcp_server.sandbox import Sandbox

log = logging.getLogger(__name__)

PROGRAM = PACKAGE / "builder_program.py"
_LIBRARY_BYTES = 512 * 1024 * 1024
_PAUSE_LOOK_S = 0.05
_PRECOMPILE_FROM = 3
"""Builds with equal flags after which the stand-in is precompiled for them: it costs as much as two builds."""
_HEADER_LIMIT_S = 300.0
_HEADER_BYTES = 2 * 1024**3
_KEPT_HEADERS = 2
"""Each takes half a gigabyte."""


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
    _store: BuildStore = field(init=False)
    _uses: dict[str, int] = field(default_factory=dict[str, int])
    """Of each set of flags."""
    _count: int = 0

    def __post_init__(self) -> None:
        """Open the store: this server's own where a candidate could write the home folder."""
        fenced = self.sandbox.level != "process"
        place = self.home / "cache" if fenced else self.workspace.path
        self._store = BuildStore(place / "extensions", fenced)

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
            found = await anyio.to_thread.run_sync(self._store.kept, key)
            if found is None:
                found = await self._made(recipe, key, limit_s)
        words = (found, recipe.target, key, folder)
        if not await anyio.to_thread.run_sync(self._store.deliver, *words):
            return Built("left", cause="what was built could be neither kept nor handed over")
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

    # --- building -----------------------------------------------------------------------------------

    async def _made(self, recipe: Recipe, key: str, limit_s: float) -> Built:
        asked = time.monotonic()
        async with self._room:
            waited_s = time.monotonic() - asked
            found = await self._compile(recipe, key, limit_s)
        self._count_uses(recipe)
        return replace(found, waited_s=waited_s)

    async def _compile(self, recipe: Recipe, key: str, limit_s: float) -> Built:
        began = time.monotonic()
        async with self._scratch() as scratch:
            for source in recipe.sources:
                (scratch / source.name).write_bytes(source.text)
            precompiled = self._precompiled(recipe)
            seen = self.sandbox.scratch_seen(scratch)
            plan = build_plan.plan(recipe, seen, self._stand_ins(), precompiled)
            ending = await self._run(plan, scratch, limit_s, precompiled)
            took_s = time.monotonic() - began
            if ending is None:
                return Built("late", seconds=took_s)
            said = ending.stdout + ending.stderr
            if ending.cause is not None:
                said += f"\nerror: the build was ended, it passed a limit ({ending.cause})"
            library = scratch / recipe.target
            good = ending.exit == 0 and _plain(library, _LIBRARY_BYTES)
            stand_in = any(s.get("stand_in") and not s.get("fell_back") for s in _report(scratch))
            outcome: Said = "built" if good else "failed"
            found = Built(outcome, said, "", took_s, stand_in=stand_in, cpu_s=ending.cpu_s)
            if ending.cause is None:
                await anyio.to_thread.run_sync(
                    self._store.keep, key, found, library if good else None
                )
        return found

    @asynccontextmanager
    async def _scratch(self) -> AsyncGenerator[Path]:
        self._count += 1
        scratch = self.workspace.fresh(f"b{self._count}")
        try:
            yield scratch
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(folders.remove, scratch)

    async def _run(
        self, plan: dict[str, object], scratch: Path, limit_s: float, reads: Path | None
    ) -> Ending | None:
        """Run the builder's program; None if it did not end in time."""
        (scratch / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        process = await self._start(scratch, reads)
        self._running.append(process)
        process.look_every_s = child.OFTEN_S
        try:
            ended = await self._wait(process, limit_s)
        finally:
            with anyio.CancelScope(shield=True):
                process.count_cpu()
                await process.kill()
            self._running.remove(process)
        return process.ending() if ended else None

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

    async def _start(self, scratch: Path, reads: Path | None) -> Child:
        sandbox = replace(self.sandbox, device=replace(self.sandbox.device, nodes=()))
        seen = sandbox.scratch_seen(scratch)
        values = environment(sandbox.interpreter, self.sandbox.device, seen, touches_gpu=False)
        python = sandbox.interpreter.executable
        argv = [python, "-I", "-S", "-B", str(PROGRAM), f"{seen}/plan.json"]
        needs = (str(PROGRAM), str(self._stand_ins()), *([str(reads)] if reads else []))
        process = await child.start(sandbox, argv, scratch, values, reads=needs)
        self.group.start_soon(process.attend)
        if self._paused:
            process.pause(on=True)
        return process

    # --- headers ------------------------------------------------------------------------------------

    def _stand_ins(self) -> Path:
        place = self.workspace.path / "headers"
        if not place.is_dir():
            headers.write(place)
        return place

    def _header_place(self, recipe: Recipe) -> Path:
        tools = [_version(recipe.compilers["cxx"][0])]
        key = build_plan.header_key(recipe, tools, self.sandbox.interpreter.torch)
        return self._store.folder.with_name("headers-precompiled") / key

    def _precompiled(self, recipe: Recipe) -> Path | None:
        """Return the folder of the precompiled stand-in for these flags, if there is one."""
        place = self._header_place(recipe)
        if not (place / "torch" / "extension.h.gch").is_file():
            return None
        with suppress(OSError):
            os.utime(place)
        return place

    def _count_uses(self, recipe: Recipe) -> None:
        if not build_plan.precompiles(recipe):
            return
        place = self._header_place(recipe)
        self._uses[place.name] = self._uses.get(place.name, 0) + 1
        if self._uses[place.name] == _PRECOMPILE_FROM and not place.exists():
            self.group.start_soon(self._precompile, recipe, place)

    async def _precompile(self, recipe: Recipe, place: Path) -> None:
        """Compile the stand-in, once, for all that is built with these flags."""
        async with self._room, self._scratch() as scratch:
            seen = self.sandbox.scratch_seen(scratch)
            plan = build_plan.header_plan(recipe, seen, self._stand_ins())
            ending = await self._run(plan, scratch, _HEADER_LIMIT_S, None)
            header = scratch / "extension.h.gch"
            if ending is not None and ending.exit == 0 and _plain(header, _HEADER_BYTES):
                await anyio.to_thread.run_sync(self._keep_header, header, place)

    def _keep_header(self, header: Path, place: Path) -> None:
        part = place.with_name(f".{place.name}.{os.getpid()}")
        with suppress(OSError):
            (part / "torch").mkdir(parents=True, exist_ok=True)
            plain = self._stand_ins() / headers.LIGHT / "torch" / "extension.h"
            shutil.copyfile(plain, part / "torch" / "extension.h")
            shutil.copyfile(header, part / "torch" / "extension.h.gch", follow_symlinks=False)
            part.rename(place)
            forget_old(place.parent, _KEPT_HEADERS)


def _report(scratch: Path) -> list[dict[str, object]]:
    try:
        rows: object = json.loads((scratch / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return cast("list[dict[str, object]]", rows) if isinstance(rows, list) else []


def _plain(path: Path, most: int) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= most


@lru_cache(maxsize=8)
def _version(tool: str) -> str:
    """Return a tool's path, size and time: what it is, without running it."""
    path = shutil.which(tool) or tool
    real = os.path.realpath(path)
    with suppress(OSError):
        facts = Path(real).stat()
        return f"{real} {facts.st_size} {facts.st_mtime_ns}"
    return real
