"""`pike` whose engines are fated: `python -m tests.workbench.fated_pike experiment run FILE`."""

from __future__ import annotations

import sys

from workbench import launch
from workbench.cli import main

if __name__ == "__main__":
    launch.ENGINE = "tests.workbench.fated_entry"
    sys.exit(main(sys.argv[1:]))
