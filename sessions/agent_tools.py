"""The agents' tool calls, made by the engine: compile, check, benchmark, each under the agent's name.

One job carries them all; which were carried out, and how they went, stands in its result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.facts import ToolCalled

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPILE, CHECK, BENCHMARK = "compile_kernel", "check_kernel", "benchmark_kernel"
TOOL_OF = {
    "intake": COMPILE,
    "build": COMPILE,
    "qualify": CHECK,
    "correctness": CHECK,
    "timing": BENCHMARK,
    "confirm": BENCHMARK,
    "report": BENCHMARK,
}
"""The evaluator's stage to the tool whose work it is."""
_ORDER = (COMPILE, CHECK, BENCHMARK)
_SECONDS = {COMPILE: "build_s", CHECK: "correctness_s", BENCHMARK: "timing_s"}


def calls_of(candidate: str, agent: str, result: Mapping[str, Any]) -> list[ToolCalled]:
    """Return the calls that a result shows, in order: all before the last one went well."""
    last = TOOL_OF.get(str(result.get("stage")), COMPILE)
    made = _ORDER[: _ORDER.index(last) + 1]
    fine = result.get("status") == "ok"
    return [
        ToolCalled(
            candidate=candidate,
            agent=agent,
            tool=tool,
            ok=fine or tool != last,
            seconds=result.get(_SECONDS[tool]),
        )
        for tool in made
    ]
