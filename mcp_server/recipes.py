"""What torch's extension builder wrote down for ninja, read as data: sources and flags, checked, with a digest.

The folder was written by a process that runs a candidate: nothing in it is believed. Flags that could make a compiler
run other programs are refused; what is merely unknown is left to the candidate's own sandbox.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_SOURCES = 64
_MOST_BYTES = 4 * 1024 * 1024
_NINJA_BYTES = 1024 * 1024
_LINE = re.compile(r"^(\w+) =(.*)$")
_BUILD = re.compile(r"^build (\S+): (compile|cuda_compile|link) (.+)$")
_REFUSED = re.compile(
    r"^(?:@|-fplugin|-plugin|-wrapper|-specs|--specs|-B|-Xclang|-load|-Wp,-|-Wa,@|-Wl,@|--options-file|-optf"
    r"|-dlcpath|--compiler-bindir|-ccbin|--run|-save-temps|--keep|--dryrun|-o$|-x$|-###|--use-local-env)"
)
_ALLOWED = re.compile(
    r"^(?:-D\w+(?:=[\w.,/+\"-]*)?|-U\w+|-O[0-3s]?|-Ofast|-O[gz]|-g\d?|-lineinfo|--generate-line-info|-G|-w|-W[\w=,+-]*"
    r"|-f(?!plugin)[\w=.,+-]+|-m[\w=.,+-]+|-std=[\w+]+|--std=[\w+]+|-pthread|-v|--verbose|-shared|-static-lib\w+"
    r"|-l[\w.+-]+|-pipe|-ansi|-pedantic|--expt-[\w-]+|--extended-lambda|-extended-lambda|--use_fast_math"
    r"|-use_fast_math|--fmad=\w+|-fmad=\w+|--ftz=\w+|-ftz=\w+|--prec-\w+=\w+|-prec-\w+=\w+|--maxrregcount[= ]?\d*"
    r"|-maxrregcount=?\d*|--threads=?\d*|-t=?\d+|-gencode[=\w,-]*|--generate-code[=\w,\[\]-]*|-arch=?\w*"
    r"|--gpu-architecture=\w+|-code=[\w,]+|-rdc=\w+|--relocatable-device-code=\w+|-dc|-dlto|--resource-usage"
    r"|-res-usage|--default-stream=?[\w-]*|-default-stream|--ptxas-options=[\w=,.+-]+|-Xptxas=?[\w=,.+-]*"
    r"|--compiler-options|-Xcompiler=?[\w=,.+-]*|--diag[-_]suppress=?[\w,-]*|-diag-suppress|-Xcudafe|--split-compile=?\d*"
    r"|--display_error_number|-Xlinker|-Wl,(?:--no-as-needed|--as-needed|-O\d|-s|--gc-sections|-rpath,[\w./+-]+)"
    r"|-rpath[=,]?[\w./+-]*|-cudart|-ftemplate-\w+=?\d*|-fopenmp)$"
)
_WITH_VALUE_TEXT = """
-Xptxas -Xcompiler --compiler-options -Xcudafe -gencode --generate-code --maxrregcount -maxrregcount
-arch --threads -t --default-stream -default-stream -diag-suppress --diag-suppress --ptxas-options
-cudart
"""
_WITH_VALUE = frozenset(_WITH_VALUE_TEXT.split())
_VALUE = re.compile(r"^(?!.*(?:plugin|wrapper|specs))[\w=,.+\[\]\"' -]+$")
_HEADERS = frozenset((".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl"))
_LIBRARY_FILE = re.compile(r"^/\S+\.(?:so|a)(?:\.\d+)*$")


class Uncaught(Exception):
    """The build is not of the usual form: it stays in the candidate's own sandbox."""


class Refused(Exception):
    """The build asks for what no candidate may."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file to compile."""

    name: str
    text: bytes
    is_cuda: bool


@dataclass(frozen=True, slots=True)
class Recipe:
    """A shared library: from which texts, by which compilers, with which flags."""

    target: str
    sources: tuple[Source, ...]
    compilers: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """`cxx`, `nvcc`: the command's first words."""
    flags: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """`cflags`, `cuda_cflags`, `ldflags` and the like, each as the author's call gave them."""

    @property
    def digest(self) -> str:
        """Return a digest of all of it."""
        texts = [(s.name, hashlib.sha256(s.text).hexdigest(), s.is_cuda) for s in self.sources]
        facts = [self.target, texts, self.compilers, self.flags]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def read(folder: Path, seen: str, allowed: Iterable[str]) -> Recipe:
    """Return what the folder asks for.

    Args:
        folder: on the host.
        seen: the same, as the candidate's process names it.
        allowed: folders whose headers and libraries every sandbox sees.

    Raises:
        Uncaught: it is not of the usual form.
        Refused: a flag is not allowed.
    """
    text = _bytes(folder / "build.ninja", _NINJA_BYTES).decode("utf-8", "replace")
    values, builds = _parsed(text)
    sources = tuple(_sources(builds, folder, seen))
    target = next((out for out, rule, _ in builds if rule == "link"), "")
    if not sources or not re.fullmatch(r"[\w.-]{1,200}\.so", target):
        raise Uncaught("no library")
    if values.get("cuda_dlink_post_cflags", "").strip():
        raise Uncaught("device linking")
    compilers = {name: _words(values[name]) for name in ("cxx", "nvcc") if name in values}
    _check_compilers(compilers)
    names = ("cflags", "post_cflags", "cuda_cflags", "cuda_post_cflags", "ldflags")
    flags = {name: _words(values.get(name, "")) for name in names}
    places = tuple(os.path.realpath(place) for place in allowed)
    for name in names:
        _check(flags[name], places)
    return Recipe(target, sources, compilers, flags)


def _bytes(path: Path, most: int) -> bytes:
    """Read a plain file that another may be changing; never through a link."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Uncaught(f"{path.name} cannot be read") from error
    with os.fdopen(fd, "rb") as file:
        if os.fstat(file.fileno()).st_size > most:
            raise Uncaught(f"{path.name} is too long")
        return file.read(most)


def _parsed(text: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    values: dict[str, str] = {}
    builds: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        if found := _LINE.match(line):
            values[found[1]] = found[2].strip()
        elif built := _BUILD.match(line):
            builds.append((built[1], built[2], built[3].strip()))
        elif line.startswith("build "):
            raise Uncaught("a rule that is not torch's")
    return values, builds


def _sources(builds: list[tuple[str, str, str]], folder: Path, seen: str) -> Iterable[Source]:
    compiled = [row for row in builds if row[1] != "link"]
    if len(compiled) > _MOST_SOURCES:
        raise Uncaught("too many sources")
    if any(path.suffix in _HEADERS for path in folder.iterdir()):
        raise Uncaught("headers of its own")
    names: set[str] = set()
    for _, rule, path in compiled:
        place = PurePosixPath(path.replace("$ ", " ").replace("$:", ":"))
        name = place.name
        if str(place.parent) != seen or name in names or not re.fullmatch(r"[\w.-]{1,200}", name):
            raise Uncaught("a source that lies elsewhere")
        names.add(name)
        text = _bytes(folder / name, _MOST_BYTES)
        yield Source(name, text, rule == "cuda_compile")


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text.replace("$ ", " ").replace("$:", ":").replace("$$", "$")))
    except ValueError as error:
        raise Uncaught("flags that cannot be read") from error


def _check_compilers(compilers: dict[str, tuple[str, ...]]) -> None:
    for name, words in compilers.items():
        plain = {"cxx": ("c++", "g++", "clang++"), "nvcc": ("nvcc",)}[name]
        if len(words) != 1 or Path(words[0]).name not in plain:
            raise Uncaught("a compiler of its own")
        if "/" in words[0] and os.path.realpath(words[0]).startswith(("/tmp/", "/scratch/")):  # noqa: S108
            raise Uncaught("a compiler of its own")


def _check(flags: tuple[str, ...], places: tuple[str, ...]) -> None:
    waiting = ""
    for flag in flags:
        if waiting in ("-I", "-isystem", "-L"):
            _check_place(flag, places)
        elif waiting:
            _check_value(waiting, flag)
        waiting_now = _waits(flag) if not waiting else ""
        if not waiting and not waiting_now:
            _check_flag(flag, places)
        waiting = waiting_now


def _waits(flag: str) -> str:
    return flag if flag in _WITH_VALUE or flag in ("-I", "-isystem", "-L") else ""


def _check_value(name: str, value: str) -> None:
    if _REFUSED.match(value) or not _VALUE.match(value):
        raise Refused(f"The compiler flag {name} {value[:100]} is not allowed: leave it out.")


def _check_flag(flag: str, places: tuple[str, ...]) -> None:
    if _REFUSED.match(flag):
        raise Refused(f"The compiler flag {flag[:100]} is not allowed: leave it out.")
    if flag.startswith(("-I", "-L")):
        _check_place(flag[2:], places)
    elif _LIBRARY_FILE.match(flag):
        _check_place(flag, places)
    elif not _ALLOWED.match(flag):
        raise Uncaught(f"the flag {flag[:100]}")


def _check_place(path: str, places: tuple[str, ...]) -> None:
    real = os.path.realpath(path)
    if not any(real == place or real.startswith(place + "/") for place in places):
        raise Uncaught("headers or libraries that lie elsewhere")
