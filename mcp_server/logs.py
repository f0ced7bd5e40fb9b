"""What the servers log: to stderr, plain, with nothing in it that a terminal would obey and no token."""

from __future__ import annotations

import logging
import re
import sys

from mcp_server.clean import printable

_TOKEN = re.compile(r"pike_[\w-]{20,}|(?<=[Bb]earer )[^\s,'\"]+")


class Plain(logging.Formatter):
    """Name and message; traffic is foreign text, so it is made inert."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's lines."""
        return _TOKEN.sub("…", printable(super().format(record)))


def to_stderr(level: str = "WARNING") -> None:
    """Log there from now on, whoever set logging up before."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Plain("%(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
