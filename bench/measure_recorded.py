"""Evaluates the recorded answers on this machine's device, and prints a table with machine and versions.

    python -m bench.measure_recorded --device cuda:0 --task starter/softmax --out FOLDER

Every verdict is written to FOLDER as JSON, the table as Markdown.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from strategies.reply import Found, candidate

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "sessions" / "recorded"
COLUMNS = ("answer", "says", "verdict", "class", "× baseline", "× eager", "ms", "over", "flags")


def main() -> None:
    """Evaluate and print."""
    arguments = parse()
    arguments.out.mkdir(parents=True, exist_ok=True)
    tasks = arguments.task or ["starter/softmax", "starter/layernorm-mlp"]
    text = "\n\n".join(measure(task, arguments.device, arguments.out) for task in tasks)
    (arguments.out / "recorded.md").write_text(text + "\n", encoding="utf-8")
    print(text)


def parse() -> argparse.Namespace:
    """Return the flags."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--task", action="append")
    parser.add_argument("--out", type=Path, default=Path("build/measured"))
    return parser.parse_args()


def measure(task: str, device: str, out: Path) -> str:
    """Return the table of one task."""
    rows = entries(task, device)
    with tempfile.TemporaryDirectory() as folder:
        files = [write(row, Path(folder)) for row in rows]
        verdicts = evaluate(task, device, files)
    stem = task.replace("/", "-") + "-" + device.replace(":", "")
    (out / f"{stem}.json").write_text(json.dumps(verdicts, indent=1), encoding="utf-8")
    return table(task, rows, verdicts)


def entries(task: str, device: str) -> list[dict[str, Any]]:
    """Return the recorded answers with code, and the extra files, of a task on that kind of device."""
    kind = "cuda" if device.startswith("cuda") else "cpu"
    index = json.loads((RECORDED / "index.json").read_text(encoding="utf-8"))
    found = [e for e in index["tasks"][task].get(kind, []) if e["role"] != "ideas"]
    extras = sorted((RECORDED / "extras").glob(f"{task.split('/')[1]}-{kind}-*.py"))
    return found + [{"file": f"extras/{path.name}", "says": ""} for path in extras]


def write(row: dict[str, Any], folder: Path) -> Path:
    """Return a file with the answer's code."""
    source = (RECORDED / row["file"]).read_text(encoding="utf-8")
    if row["file"].endswith(".md"):
        found = candidate(source)
        assert isinstance(found, Found), f"{row['file']}: {found}"
        source = found.source
    path = folder / (row["file"].replace("/", "-").removesuffix(".md").removesuffix(".py") + ".py")
    path.write_text(source, encoding="utf-8")
    return path


def evaluate(task: str, device: str, files: list[Path]) -> list[dict[str, Any]]:
    """Return the full-view verdicts, in order."""
    command = [sys.executable, "-m", "mcp_server", "evaluate", task, *map(str, files)]
    done = subprocess.run(
        [*command, "--device", device, "--json"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def table(task: str, rows: list[dict[str, Any]], verdicts: list[dict[str, Any]]) -> str:
    """Return Markdown: where and with what, then a row an answer."""
    first: dict[str, Any] = next((v for v in verdicts if v.get("torch")), verdicts[0])
    where = (
        f"{first.get('device_name')}, driver {first.get('driver')}, CUDA {first.get('cuda')}, "
        f"torch {first.get('torch')}, Python {platform.python_version()}, "
        f"sandbox {first.get('sandbox_level')}"
    )
    lines = [f"### {task}", "", where, "", "Baselines: " + baselines(verdicts), ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "| " + " | ".join("---" for _ in COLUMNS) + " |"]
    lines += [
        "| " + " | ".join(cells(row, verdict)) + " |"
        for row, verdict in zip(rows, verdicts, strict=True)
    ]
    return "\n".join(lines)


def baselines(verdicts: list[dict[str, Any]]) -> str:
    """Return every baseline with its class and time."""
    for verdict in verdicts:
        if verdict.get("baseline_names"):
            zipped = zip(
                verdict["baseline_names"],
                verdict["baseline_classes"],
                verdict["baseline_times_ms"],
                strict=True,
            )
            return ", ".join(f"{name} ({kind}) {ms:.4g} ms" for name, kind, ms in zipped)
    return "none measured"


def cells(row: dict[str, Any], verdict: dict[str, Any]) -> list[str]:
    """Return one row's cells."""
    status = verdict["status"] + (f"/{verdict['code']}" if verdict.get("code") else "")
    return [
        Path(row["file"]).stem,
        row.get("says", ""),
        status + (f" ({verdict['outcome']})" if verdict.get("outcome") else ""),
        verdict.get("precision_class") or "",
        ratio(verdict, "speedup"),
        ratio(verdict, "speedup_eager"),
        f"{verdict['runtime_ms']:.4g}" if verdict.get("runtime_ms") else "",
        verdict.get("baseline") or "",
        " ".join(verdict.get("flags") or []) or (verdict.get("cause") or "")[:80],
    ]


def ratio(verdict: dict[str, Any], name: str) -> str:
    """Return a ratio with its interval, or nothing."""
    if verdict.get(f"{name}_ratio") is None:
        return ""
    low, high = verdict[f"{name}_lo_ratio"], verdict[f"{name}_hi_ratio"]
    return f"{verdict[f'{name}_ratio']:.2f} ({low:.2f}–{high:.2f})"


if __name__ == "__main__":
    main()
