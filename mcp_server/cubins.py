"""Registers and stack of GPU programs, read from their ELF files: `.nv.info` has both for every kernel.

Files are untrusted: whatever does not fit the format is passed over. Compressed programs inside shared libraries are
not looked into.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from mcp_server.build import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_ELF = b"\x7fELF\x02\x01"
_CUDA_MACHINE = 190
_SYMBOL_AND_VALUE = 4
_REGISTERS, _FRAME = 0x2F, 0x11
_MOST_BYTES = 64 * 1024 * 1024
_MOST_PROGRAMS = 256


def usage(objects: Iterable[Path]) -> Usage:
    """Return the most registers and stack bytes of any kernel in these files: spilled registers lie on the stack."""
    registers: list[int] = []
    frames: list[int] = []
    for path in objects:
        for program in _programs(_read(path)):
            for kind, value in _facts(program):
                (registers if kind == _REGISTERS else frames).append(value)
    return Usage(max(registers, default=None), max(frames, default=None))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""


def _programs(data: bytes) -> Iterator[bytes]:
    """Yield the CUDA programs of a file: the file itself, or what lies in it uncompressed."""
    at, found = data.find(_ELF), 0
    while at >= 0 and found < _MOST_PROGRAMS:
        machine = data[at + 18 : at + 20]
        if machine == _CUDA_MACHINE.to_bytes(2, "little"):
            found += 1
            yield data[at:]
        at = data.find(_ELF, at + 1)


def _facts(program: bytes) -> list[tuple[int, int]]:
    try:
        return [
            fact for name, text in _sections(program) if name == b".nv.info" for fact in _told(text)
        ]
    except (struct.error, IndexError, ValueError, OverflowError):  # a stranger's places and names
        return []


def _sections(program: bytes) -> Iterator[tuple[bytes, bytes]]:
    (start,) = struct.unpack_from("<Q", program, 0x28)
    size, count, names = struct.unpack_from("<HHH", program, 0x3A)
    headers = [_header(program, start + number * size) for number in range(count)]
    text_at, text_size = headers[names][1:]
    text = program[text_at : text_at + text_size]
    for name, at, length in headers:
        yield (
            text[name : text.index(b"\0", name)] if name < len(text) else b"",
            program[at : at + length],
        )


def _header(program: bytes, at: int) -> tuple[int, int, int]:
    name, kind = struct.unpack_from("<II", program, at)
    place, length = struct.unpack_from("<QQ", program, at + 0x18)
    return name, place, 0 if kind == 8 else length  # 8: a section without bytes


def _told(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield registers and frames; entries are a format, a name, a size, and so many bytes."""
    at = 0
    while at + 4 <= len(text):
        form, kind, size = struct.unpack_from("<BBH", text, at)
        at += 4
        if form != _SYMBOL_AND_VALUE:  # the size is the value
            continue
        if kind in (_REGISTERS, _FRAME) and size == 8:
            yield kind, struct.unpack_from("<II", text, at)[1]
        at += size
