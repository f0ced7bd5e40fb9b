"""The names of things in a session: how they are made, and read back.

Queries and candidates share one count: `q12` answered with candidate `c12`; an unusable reply leaves a gap.
"""

from __future__ import annotations


def query_id(number: int) -> str:
    """Return the name of a query."""
    return f"q{number}"


def candidate_id(number: int) -> str:
    """Return the name of a candidate, its attempt and its commit."""
    return f"c{number}"


def steer_id(number: int) -> str:
    """Return the name of a steer."""
    return f"s{number}"


def human_proposal_id(number: int) -> str:
    """Return the name of a proposal that a person made."""
    return f"h{number}"


def plain_proposal_id(number: int) -> str:
    """Return the name of a plain variant's proposal."""
    return f"v{number}"


def lineage_id(number: int) -> str:
    """Return the name of a lineage."""
    return f"{number:03d}"


def number_of(name: str) -> int:
    """Return the number in a query's or candidate's name; 0 if it holds none."""
    digits = name[1:]
    return int(digits) if digits.isdecimal() else 0
