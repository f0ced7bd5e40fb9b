"""Set the limits of a child process, then become its program: started by path, standard library only.

`enter.py PARENT LIMITS PROGRAM ARGS…`: PARENT is the process whose end ends this one (0 where a namespace's own init
sees to that), LIMITS a JSON object from a resource's name (`AS`, `DATA`, `FSIZE`, `NOFILE`, `CORE`, `NPROC`) to its
number.
"""

import ctypes
import json
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1


def _follow(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(1)


def _limit(name: str, number: int) -> None:
    kind = getattr(resource, f"RLIMIT_{name}")
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        number = min(number, hard)
    resource.setrlimit(kind, (number, number))


def main() -> None:
    """Limit, then execute."""
    parent = int(sys.argv[1])
    if parent:
        _follow(parent)
    for name, number in json.loads(sys.argv[2]).items():
        _limit(name, number)
    os.execv(sys.argv[3], sys.argv[3:])  # noqa: S606 -- that is its duty


if __name__ == "__main__":
    main()
