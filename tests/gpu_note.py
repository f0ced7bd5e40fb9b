"""Says, at the end of `make test`, what a machine without a GPU leaves untested."""

from __future__ import annotations

import shutil
import sys


def main() -> None:
    """Print the reason, if the GPU tests were left out."""
    has_gpu = shutil.which("nvidia-smi") is not None
    reason = "they take the GPU for minutes" if has_gpu else "no NVIDIA GPU here"
    print(f"GPU tests left out: {reason}; run them with `make test-gpu`.", file=sys.stderr)


if __name__ == "__main__":
    main()
