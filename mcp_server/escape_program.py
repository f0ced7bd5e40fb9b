"""A program that tries to get out of a sandbox, or past its limits: started by path inside it, standard library only.

`escape_program.py look TARGETS` tries all that ends by itself, TARGETS being a JSON object of what to aim at, and
prints what came of each attempt; `escape_program.py NAME` passes one limit (`processes`, `memory`, `scratch`,
`output`) or leaves a process behind (`lingering WORD`). Of that it prints `began`, and `all` if nothing stopped it.
"""

import ctypes
import json
import os
import platform
import signal
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_SECRET_BYTES = 32
_ATTACH, _DETACH, _PEEK = 16, 17, 2
_WALL = 0x40000000
_NEWUSER = 0x10000000
_CLONE = 56 if platform.machine() == "x86_64" else 220
_MEBIBYTE = 2**20
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class _Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def _failed(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _send(family: int, kind: int, address: tuple[str, int] | str) -> str:
    mine = socket.socket(family, kind)
    mine.settimeout(2)
    mine.connect(address)
    mine.send(b"x")
    return "sent"


def _see() -> str:
    """Return the command lines of all processes in sight."""
    seen: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            seen.append(path.read_text("latin-1"))
    return "\n".join(seen)


def _read_memory(pid: int, address: int) -> str:
    """Return what lies in another process's memory, by either way there is."""
    held = ctypes.create_string_buffer(_SECRET_BYTES)
    here = _Part(ctypes.addressof(held), _SECRET_BYTES)
    there = _Part(address, _SECRET_BYTES)
    ends = (ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1))
    if _libc.process_vm_readv(pid, *ends, ctypes.c_ulong(0)) == _SECRET_BYTES:
        return held.raw.decode("latin-1")
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
        file.seek(address)
        return file.read(_SECRET_BYTES).decode("latin-1")


def _trace(pid: int, address: int) -> str:
    """Stop another process as a debugger does, and return what lies in its memory."""
    if _libc.ptrace(_ATTACH, pid, None, None) != 0:
        raise _failed("ptrace")
    os.waitpid(pid, _WALL)
    words = [_libc.ptrace(_PEEK, pid, address + at, None) for at in range(0, _SECRET_BYTES, 8)]
    _libc.ptrace(_DETACH, pid, None, None)
    return b"".join(struct.pack("l", word) for word in words).decode("latin-1")


def _make_device() -> str:
    os.mknod(Path(os.environ["HOME"], "disk"), stat.S_IFBLK | 0o600, os.makedev(7, 0))
    return "made"


def _enter_namespace() -> str:
    """Get into a user namespace of our own, by whichever call lets us."""
    if _libc.unshare(_NEWUSER) == 0:
        return "entered"
    pid = _libc.syscall(_CLONE, _NEWUSER | signal.SIGCHLD, None, None, None, None)
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise _failed("clone")
    os.waitpid(pid, 0)
    return "entered"


def _look(targets: dict[str, object]) -> dict[str, str]:
    """Return by name what each attempt gave, or how it failed."""
    pid, address = int(str(targets["pid"])), int(str(targets["address"]))
    port = int(str(targets["port"]))
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    attempts: dict[str, Callable[[], str]] = {
        "datagrams": lambda: _send(socket.AF_INET, datagram, ("127.0.0.1", port)),
        "abstract_sockets": lambda: _send(socket.AF_UNIX, stream, f"\0{targets['name']}"),
        "sight": _see,
        "memory_of_others": lambda: _read_memory(pid, address),
        "ptrace": lambda: _trace(pid, address),
        "devices": _make_device,
        "namespaces": _enter_namespace,  # last: it changes who we are
    }
    return {name: _attempted(act) for name, act in attempts.items()}


def _attempted(act: Callable[[], str]) -> str:
    try:
        return act()
    except (OSError, AttributeError, ValueError) as error:
        return type(error).__name__


def _processes() -> None:
    made = 0
    try:
        for _ in range(400):
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            made += 1
    except OSError:
        _say("refused")
        os._exit(0)
    time.sleep(3)
    _say("all")
    os._exit(0)


def _memory() -> None:
    for _ in range(6):
        if os.fork() == 0:
            held = bytearray(b"x") * (100 * _MEBIBYTE)
            time.sleep(30)
            os._exit(len(held) == 0)
    time.sleep(3)
    _say("all")
    os._exit(0)


def _scratch() -> None:
    for number in range(20):
        Path(os.environ["HOME"], str(number)).write_bytes(bytes(10 * _MEBIBYTE))
    time.sleep(4)
    _say("all")


def _output() -> None:
    line = "x" * 65_535 + "\n"
    for _ in range(1_000):
        sys.stdout.write(line)
    _say("all")


def _lingering() -> None:
    """Leave a process behind that belongs to nobody's group or session."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            sleeping = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(30)"]
            for stream in range(3):
                os.close(stream)
            os.execv(sys.executable, [*sleeping, sys.argv[2]])  # noqa: S606 -- that is its duty
        os._exit(0)
    os.wait()
    time.sleep(0.3)
    _say("left")


_PAST = {
    "processes": _processes,
    "memory": _memory,
    "scratch": _scratch,
    "output": _output,
    "lingering": _lingering,
}


def main() -> None:
    """Try, and print what came of it."""
    if sys.argv[1] == "look":
        _say(json.dumps(_look(json.loads(sys.argv[2]))))
    else:
        _say("began")
        _PAST[sys.argv[1]]()


if __name__ == "__main__":
    main()
