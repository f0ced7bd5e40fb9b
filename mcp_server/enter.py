"""Set the limits of a child process, then become its program: started by path, standard library only.

`enter.py PARENT LIMITS FILTERED PROGRAM ARGS…`: PARENT is the process whose end ends this one (0 where a namespace's
own init sees to that), LIMITS a JSON object from a resource's name (`AS`, `DATA`, `FSIZE`, `NOFILE`, `CORE`, `NPROC`)
to its number, FILTERED `1` where the system calls are refused that pry open other processes or the kernel.

Source of the numbers: Linux, include/uapi/linux/seccomp.h, sched.h, prctl.h, and the table of x86-64's system calls.
"""

import ctypes
import json
import os
import platform
import resource
import signal
import struct
import sys

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 38, 22
_ALLOW, _REFUSE, _ABSENT = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38  # EPERM, ENOSYS
_X86_64, _X32 = 0xC000003E, 0x40000000
_CLONE, _CLONE3, _SECCOMP = 56, 435, 317
_SPECULATE = 1 << 2
_NAMESPACES = 0x7E020000
"""The flags of clone that make namespaces."""
_REFUSED = (
    *(101, 310, 311, 312),  # ptrace, process_vm_readv, process_vm_writev, kcmp
    *(165, 166, 155, 161, 428, 429, 430, 432, 442),  # mount and its kin, pivot_root, chroot
    *(272, 308),  # unshare, setns: no further namespaces, whose rights open more of the kernel
    *(248, 249, 250, 298, 321, 323, 425, 426, 427),  # keys, perf, bpf, userfaultfd, io_uring
    *(175, 313, 176, 246, 320, 169, 304),  # modules, kexec, reboot, open_by_handle_at
)
_libc = ctypes.CDLL(None, use_errno=True)


def _follow(parent: int) -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(1)


def _limit(name: str, number: int) -> None:
    kind = getattr(resource, f"RLIMIT_{name}")
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        number = min(number, hard)
    resource.setrlimit(kind, (number, number))


def _filter() -> None:
    """Refuse the system calls that nothing honest needs; on other machines than x86-64 there is no filter."""
    if platform.machine() != "x86_64":
        return
    lines = _lines()
    code = b"".join(struct.pack("=HBBI", *line) for line in lines)
    program = ctypes.create_string_buffer(code)
    packed = struct.pack("@HP", len(lines), ctypes.addressof(program))
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # Before Linux 5.16 a filter also slows the processor's loads, unless it says that it need not.
    if _libc.syscall(_SECCOMP, 1, _SPECULATE, packed) == 0:
        return
    if _libc.prctl(_PR_SET_SECCOMP, 2, packed, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _lines() -> list[tuple[int, int, int, int]]:
    """Return the filter: code, where to go if it holds and if not (both counted from the next line), and its value."""
    load, equal, at_least, any_of, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    calls = len(_REFUSED)
    # Behind the list: clone's flags are looked at, then the three answers.
    flags, allowed, refused, absent = calls + 6, calls + 8, calls + 9, calls + 10
    lines = [(load, 0, 0, 4), (equal, 0, refused - 2, _X86_64), (load, 0, 0, 0)]
    lines.append((at_least, refused - 4, 0, _X32))
    lines.append(
        (equal, absent - 5, 0, _CLONE3)
    )  # its flags lie in memory; who is refused it takes clone
    lines += [(equal, refused - 6 - place, 0, n) for place, n in enumerate(_REFUSED)]
    lines.append((equal, 0, allowed - flags, _CLONE))
    lines += [(load, 0, 0, 16), (any_of, refused - flags - 2, 0, _NAMESPACES)]
    return [*lines, (answer, 0, 0, _ALLOW), (answer, 0, 0, _REFUSE), (answer, 0, 0, _ABSENT)]


def main() -> None:
    """Limit, filter, then execute."""
    parent = int(sys.argv[1])
    if parent:
        _follow(parent)
    for name, number in json.loads(sys.argv[2]).items():
        _limit(name, number)
    if sys.argv[3] == "1":
        _filter()
    os.execv(sys.argv[4], sys.argv[4:])  # noqa: S606 -- that is its duty


if __name__ == "__main__":
    main()
