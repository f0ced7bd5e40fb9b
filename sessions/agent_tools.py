"""The agents' tools: the calls that the engine makes for every attempt, and those that models may make themselves.

For an attempt one job carries compile, check and benchmark; which were carried out, and how they went, stands in its
result. With `agent_tools` a model is offered `TOOLS`: those of the MCP server, of one task on one device. They take a
file or a candidate, so that each can be the first call: every round costs a query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.facts import ToolCalled
from sessions.models.tools import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPILE, CHECK, BENCHMARK = "compile_kernel", "check_kernel", "benchmark_kernel"
PROFILE, TASK = "profile_kernel", "get_task"
SOURCE, CANDIDATE = "source", "candidate_id"
_FILE = {"type": "string", "description": "a whole Python file with class ModelNew"}
_EARLIER = {
    "type": "string",
    "description": "the candidate_id of an earlier result, in place of source",
}
_EITHER = {"type": "object", "properties": {SOURCE: _FILE, CANDIDATE: _EARLIER}}
TOOLS = (
    Tool(
        COMPILE,
        "Import and build a candidate file; the compiler's words are returned, and a candidate_id.",
        {"type": "object", "properties": {SOURCE: _FILE}, "required": [SOURCE]},
    ),
    Tool(CHECK, "Build a candidate and compare its answers with the original's.", _EITHER),
    Tool(
        BENCHMARK,
        "Build and check a candidate, then time it quickly against the task's baselines.",
        _EITHER,
    ),
    Tool(
        PROFILE,
        "Build, check and time a candidate, then show where its time goes and what is left to gain.",
        _EITHER,
    ),
    Tool(
        TASK,
        "Tell what is known of the task here: its floor, its baselines, the device's rates, what can be built.",
        {"type": "object", "properties": {}},
    ),
)
"""What a model may call; the same in every session, so that a conversation can go on after an update."""
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
