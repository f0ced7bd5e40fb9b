"""A worker without torch: executes the text it is sent, and answers with the value of `said`."""

import argparse
import json
import socket
from typing import Any


def main() -> None:
    """Execute one text."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int)
    lines = socket.socket(fileno=parser.parse_args().fd).makefile("rw")
    names: dict[str, Any] = {}
    try:
        exec(json.loads(lines.readline()), names)
        answer: dict[str, Any] = {"said": names.get("said")}
    except BaseException as error:  # noqa: BLE001
        answer = {"said": None, "raised": f"{type(error).__name__}: {error}"}
    lines.write(json.dumps(answer, default=str) + "\n")
    lines.flush()


if __name__ == "__main__":
    main()
