"""Entry of the `pike` command."""

from __future__ import annotations

import sys

from workbench.cli import main as _main


def main() -> None:
    """Carry out the command line and leave with its exit code."""
    sys.exit(_main(sys.argv[1:]))


if __name__ == "__main__":
    main()
