"""What the README promises, in its own words, and the test that holds each: `test_promises.py` checks both ways."""

from __future__ import annotations

PROMISES = {
    "Every attempt is a git commit with its verdict": "tests/property/test_search.py",
    "A search survives crashes": "tests/sessions/test_killed.py",
    "lost connections and closed windows": "tests/workbench/test_engines.py",
    "never spends more than you allowed": "tests/property/test_search.py",
    "compiles each in a sandbox": "tests/mcp_server/test_sandbox.py",
    "checks it against the original on inputs the rewrite cannot know": "tests/mcp_server/judge/test_correctness.py",
    "runs a whole search: no GPU, no key": "tests/workbench/test_whole_thread.py",
    "on a terminal it opens the live screen; elsewhere it prints a line per event": "tests/workbench/test_cli.py",
    "what this machine has, and what to do about what is missing": "tests/workbench/test_machine_commands.py",
    "`--python /path/to/venv` runs the original and every candidate under it": "tests/mcp_server/test_real.py",
    "`--model offline` tries what rules can do": "tests/sessions/models/test_offline.py",
    "pike run my_model.py --model claude-opus-5-5": "tests/sessions/models/test_network.py",
    "close the window, or `q`; later `pike attach NAME`": "tests/tui/test_live.py",
    "`pike pause NAME`, `pike resume NAME`, `pike stop NAME`": "tests/workbench/test_engines.py",
    "tell the agents something": "tests/sessions/test_steering.py",
    "take one out of the search": "tests/sessions/test_steering.py",
    "whichever comes first ends the search, and nothing exceeds it": "tests/sessions/test_engine.py",
    "The process that runs a candidate decides nothing": "tests/mcp_server/test_selftest_cases.py",
    "A task is used only after it has rejected answers known to be wrong": "tests/mcp_server/judge/test_correctness.py",
    "measured in turns with its baseline (A B B A), has an interval": "tests/mcp_server/judge/test_timing.py",
    "where the time goes, and what a search could gain at most": "tests/mcp_server/test_known.py",
    "what all searches found, how sure that is, what it cost": "tests/workbench/test_report.py",
    "Configurations are compared on the tasks they share, with intervals over repeats": "tests/sessions/test_report.py",
    "the evidence of a best, in one file": "tests/workbench/test_evidence.py",
    "measured again, here or elsewhere: does the claim stand?": "tests/mcp_server/test_bundle.py",
    "known cheats, refused on your machine": "tests/mcp_server/test_selftest_cases.py",
    "The same evaluator is an MCP server": "tests/mcp_server/test_stdio.py",
    "a plain file that runs by itself; your project is read-only in the sandbox": "tests/workbench/test_task_new.py",
    "a checkout, or any folder of such files; nothing is copied": "tests/mcp_server/test_added_suites.py",
    "each: qualified, unfit and why, not tried; what it needs": "tests/workbench/test_suites.py",
    "copy the folder and you have it all": "tests/sessions/test_folder.py",
    "`pike config` shows each value and its origin": "tests/workbench/test_config.py",
}
"""Words of the README (line breaks and case apart) to the tests that would fail if they were untrue."""
