"""Compile and link as a plan says: started by path inside a sandbox of its own, standard library only.

`builder_program.py PLAN`: a JSON object with `jobs`, `cores`, `steps` (each `name`, `argv`, `fallback` or null) and
`link`. A step that fails is tried again by its fallback, whose output is then the one shown. What came of it is
written beside the plan as `report.json`.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

CPU_LIMIT_S = 900
"""Of one compiler: where no sandbox ends it with its server, it ends by itself."""


def _keep_to(cores: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
    here = sorted(os.sched_getaffinity(0))
    if cores and cores < len(here):
        os.sched_setaffinity(0, here[:cores])
    os.nice(5)


def _run(argv: list[str]) -> tuple[int, str]:
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _step(step: dict[str, Any]) -> dict[str, Any]:
    began = time.monotonic()
    code, said = _run(step["argv"])
    fallback: list[str] | None = step["fallback"]
    fell_back = code != 0 and fallback is not None
    if code != 0 and fallback is not None:
        code, said = _run(fallback)
    took_s = round(time.monotonic() - began, 3)
    done = {"name": step["name"], "code": code, "s": took_s, "said": said}
    return done | {"fell_back": fell_back, "stand_in": step.get("stand_in", False)}


def main() -> None:
    """Compile all steps, then link."""
    plan: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    _keep_to(plan["cores"])
    with ThreadPoolExecutor(plan["jobs"]) as pool:
        steps = list(pool.map(_step, plan["steps"]))
    if plan["link"] and all(step["code"] == 0 for step in steps):
        steps.append(_step({"name": "link", "argv": plan["link"], "fallback": None}))
    for step in steps:
        sys.stdout.write(step.pop("said"))
    Path(sys.argv[1]).with_name("report.json").write_text(json.dumps(steps), encoding="utf-8")
    sys.exit(0 if all(step["code"] == 0 for step in steps) else 1)


if __name__ == "__main__":
    main()
