"""Fence a program in without bubblewrap, then become it: started by path, standard library only.

`fence.py PARENT FENCE PROGRAM ARGS…`: PARENT is the process whose end ends this one, FENCE a JSON object with the paths
it may `read`, those it may only `list`, those it may `write`, and the device `nodes` it may use. Namespaces keep
network, processes and shared memory apart, Landlock files; enter.py refuses the system calls that pry open other
processes or the kernel. No mount is made but one of /proc, where that is allowed; sockets by path stay reachable.

Source of the numbers: Linux, include/uapi/linux/landlock.h, mount.h, prctl.h, sched.h.
"""

import ctypes
import json
import os
import signal
import struct
import sys

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 1, 38, 24
_NEWNS, _NEWUTS, _NEWIPC = 0x20000, 0x4000000, 0x8000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_RECURSIVE, _PRIVATE, _PLAIN = 0x4000, 1 << 18, 2 | 4 | 8  # nosuid, nodev, noexec
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_libc = ctypes.CDLL(None, use_errno=True)


def _call(what: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _follow(parent: int) -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() not in (parent, 0):  # it ended before we asked; 0 is outside our namespace
        os._exit(1)


def _separate() -> None:
    """Enter namespaces of our own; the user stays who it is."""
    uid, gid = os.getuid(), os.getgid()
    flags = _NEWUSER | _NEWNS | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET
    _call("namespaces", _libc.unshare(flags))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123  no pathlib here
            file.write(text)


def _become_init() -> None:
    """Return in the program's process; those above it only wait, and end as it ends."""
    for _ in range(2):
        above = os.getpid()
        child = os.fork()
        if child:
            _wait(child)
        _follow(above)


def _show_own_processes() -> None:
    """Mount a /proc of our own processes, if we may: where a container masks parts of /proc, the host's stays.

    CUDA names its threads in /proc by the ids that it knows, which are those of our namespace.
    """
    if _libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None) == 0:
        _libc.mount(b"proc", b"/proc", b"proc", _PLAIN, None)


def _wait(child: int) -> None:
    os.closerange(3, 4096)
    while True:
        pid, status = os.wait()
        if pid == child:
            break
    if os.WIFSIGNALED(status) and os.getpid() != 1:
        number = os.WTERMSIG(status)
        signal.signal(number, signal.SIG_DFL) if number not in (9, 19) else None
        os.kill(os.getpid(), number)
    code = os.waitstatus_to_exitcode(status)
    os._exit(128 - code if code < 0 else code)


def _bound(fence: dict[str, list[str]]) -> None:
    """Let Landlock hold the file system; what a path does not name is closed."""
    abi = _call("landlock", _libc.syscall(_CREATE, None, 0, 1))
    known = (1 << (13 + (abi >= 2) + (abi >= 3) + (abi >= 5))) - 1
    known = known if abi >= 5 else known & ~_IOCTL
    words = [known, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0]
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    attributes = struct.pack("=QQQ", *words)[:size]
    ruleset = _call("landlock", _libc.syscall(_CREATE, attributes, size, 0))
    reading = _EXECUTE | _READ_FILE | _READ_DIR
    using = _READ_FILE | _WRITE_FILE | _IOCTL
    # Of /proc, writing only beneath this process: CUDA names its threads there.
    own = os.path.realpath("/proc/self")
    for paths, rights in (
        (fence["read"], reading),
        (fence["list"], _READ_DIR),
        (["/proc"], _READ_FILE | _READ_DIR),
        ([own], _READ_FILE | _READ_DIR | _WRITE_FILE | _TRUNCATE),
        (fence["write"], known),
        (fence["nodes"], using),
    ):
        for path in paths:
            _allow(ruleset, path, rights & known)
    _call("landlock", _libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no leave
    if not os.path.isdir(path):  # noqa: PTH112  no pathlib here
        rights &= _OF_FILES
    rule = struct.pack("=Qi", rights, place)
    _call(path, _libc.syscall(_ADD, ruleset, 1, rule, 0))
    os.close(place)


def _give_up_rights() -> None:
    _call("no new privileges", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    for number in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)  # beyond the last one it fails
    header, none = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _call("capabilities", _libc.capset(header, none))


def main() -> None:
    """Follow, separate, show, bound, then execute."""
    fence = json.loads(sys.argv[2])
    _follow(int(sys.argv[1]))
    _separate()
    _become_init()
    _show_own_processes()
    _give_up_rights()
    _bound(fence)
    os.execv(sys.argv[3], sys.argv[3:])  # noqa: S606 -- that is its duty


if __name__ == "__main__":
    main()
