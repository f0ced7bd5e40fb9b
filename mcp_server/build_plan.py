"""The commands of a build: the author's flags in the author's order, with stand-ins before torch's headers.

A precompiled stand-in serves sources that are compiled with equal flags; the name of the extension is not among them.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from mcp_server import headers, machine
from mcp_server.environment import build_jobs

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.recipes import Recipe, Source

Step = dict[str, object]


def slots() -> int:
    """Return how many builds run at once: each has about two files."""
    return max(1, build_jobs() // 2)


def plan(recipe: Recipe, seen: str, stand_ins: Path, precompiled: Path | None) -> dict[str, object]:
    """Return what the builder's program is told.

    Args:
        recipe: what to build.
        seen: the build's scratch, as that program knows it.
        stand_ins: the folder of headers.py.
        precompiled: the folder of a precompiled stand-in for these flags, if there is one.
    """
    steps = [_step(recipe, source, seen, stand_ins, precompiled) for source in recipe.sources]
    objects = [f"{seen}/{source.name}.o" for source in recipe.sources]
    link = [*recipe.compilers["cxx"], *objects, *recipe.flags["ldflags"]]
    return {
        "jobs": max(1, min(len(steps), build_jobs())),
        "cores": max(1, machine.cores() - 2),
        "steps": steps,
        "link": [*link, "-o", f"{seen}/{recipe.target}"],
    }


def _step(
    recipe: Recipe, source: Source, seen: str, stand_ins: Path, precompiled: Path | None
) -> Step:
    names = ("nvcc", "cuda_cflags", "cuda_post_cflags")
    first, before, after = names if source.is_cuda else ("cxx", "cflags", "post_cflags")
    rest = [*recipe.flags[before], "-c", f"{seen}/{source.name}", "-o", f"{seen}/{source.name}.o"]
    rest += recipe.flags[after]
    command = list(recipe.compilers[first])
    # Told of on the way, nothing in the object changes: registers and spills of each kernel.
    command += ["--resource-usage"] if source.is_cuda else []
    light = fit(source)
    if light is None:
        return {"name": source.name, "argv": [*command, *rest], "fallback": None, "stand_in": False}
    places = [stand_ins / light]
    if precompiled is not None and light == headers.LIGHT and not source.is_cuda:
        places.insert(0, precompiled)
    return {
        "name": source.name,
        "argv": [*command, *(f"-I{place}" for place in places), *rest],
        "fallback": [*command, *rest],
        "stand_in": True,
    }


def fit(source: Source) -> str | None:
    """Return the stand-in that a source can do with."""
    return headers.fit(source.text.decode("utf-8", "replace"))


def precompiles(recipe: Recipe) -> bool:
    """Return whether a precompiled stand-in would serve the recipe."""
    return any(not s.is_cuda and fit(s) == headers.LIGHT for s in recipe.sources)


def header_flags(recipe: Recipe) -> list[str]:
    """Return the flags that a precompiled header must share."""
    return [f for f in recipe.flags["cflags"] if not f.startswith("-DTORCH_EXTENSION_NAME=")]


def header_key(recipe: Recipe, tools: list[str], torch: str) -> str:
    """Return the digest by which a precompiled stand-in is kept."""
    facts = [header_flags(recipe), tools, torch, headers.digest()]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def header_plan(recipe: Recipe, seen: str, stand_ins: Path) -> dict[str, object]:
    """Return what the builder's program is told to precompile the stand-in."""
    header = f"{stand_ins / headers.LIGHT}/torch/extension.h"
    words = [*recipe.compilers["cxx"], f"-I{stand_ins / headers.LIGHT}", *header_flags(recipe)]
    argv = [*words, "-x", "c++-header", header, "-o", f"{seen}/extension.h.gch"]
    steps = [{"name": "extension.h", "argv": argv, "fallback": None}]
    return {"jobs": 1, "cores": max(1, machine.cores() - 2), "steps": steps, "link": []}
