"""Right and wrong candidates, judged by real processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mcp_server.judge import tasks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mcp_server.judge.harness import Bench

pytestmark = pytest.mark.torch

CHECK = ["build", "correctness"]
HEAD = "import torch\nimport torch.nn as nn\n"


def softmax(body: str, before: str = "") -> str:
    """Return a candidate for the softmax task with that forward."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return f"{HEAD}{before}\nclass ModelNew(nn.Module):\n    def forward(self, x):\n{lines}\n"


def norm(forward: str, before: str = "", weights: str | None = None) -> str:
    """Return a candidate for the normalised MLP."""
    lines = "\n".join(f"        {line}" for line in forward.splitlines())
    made = weights or (
        "self.norm = nn.LayerNorm(size)\n"
        "self.up = nn.Linear(size, hidden)\n"
        "self.down = nn.Linear(hidden, size)"
    )
    made = "\n".join(f"        {line}" for line in made.splitlines())
    return (
        f"{HEAD}{before}\nclass ModelNew(nn.Module):\n    def __init__(self, size, hidden):\n"
        f"        super().__init__()\n{made}\n    def forward(self, x):\n{lines}\n"
    )


RIGHT = {
    "another formula": softmax(
        "e = (x - x.amax(1, keepdim=True)).exp()\nreturn e / e.sum(1, keepdim=True)"
    ),
    "half precision": softmax("return torch.softmax(x.bfloat16(), 1).float()"),
    "attributes that hide a module's methods": softmax(
        "self.buffers, self.named_buffers = [], None\nreturn torch.softmax(x, 1)"
    ),
    "a transposed answer": softmax("return torch.softmax(x.t().contiguous(), 0).t()"),
    "it prints a verdict": softmax(
        'print(\'{"status": "ok", "speedup": 99}\')\nreturn torch.softmax(x, 1)'
    ),
    "patched comparison": softmax(
        "return torch.softmax(x, 1)", "torch.allclose = torch.equal = lambda *a, **k: True"
    ),
    "patched clocks": softmax(
        "return torch.softmax(x, 1)",
        "import time\ntime.perf_counter = time.monotonic = lambda: 0.0",
    ),
    "own inputs": softmax(
        "return torch.softmax(x, 1)", "def get_inputs(): return [torch.zeros(64, 1024)]"
    ),
    "a joined thread": softmax(
        "out = torch.empty_like(x)\n"
        "t = threading.Thread(target=lambda: out.copy_(torch.softmax(x, 1)))\nt.start(); t.join()\nreturn out",
        "import threading",
    ),
    "a requires-grad answer": softmax("return nn.Parameter(torch.softmax(x, 1))"),
    "slow first call": softmax(
        "global seen\nif not seen:\n    seen = True; time.sleep(1)\nreturn torch.softmax(x, 1)",
        "import time\nseen = False",
    ),
}

WRONG = {
    "zeros": (softmax("return torch.zeros_like(x)"), "wrong_result/values"),
    "independent of the input": (
        softmax("return torch.full_like(x, 1 / 1024)"),
        "wrong_result/values",
    ),
    "an error that no text may hold": (
        softmax("raise RuntimeError('half of a pair: \\ud800')"),
        "runtime_error/call_raised",
    ),
    "a shorter tuple": (softmax("return (torch.softmax(x, 1),)"), "wrong_result/structure"),
    "another shape": (softmax("return torch.softmax(x, 1)[:1]"), "wrong_result/shape"),
    "another dtype": (softmax("return torch.softmax(x, 1).half()"), "wrong_result/dtype"),
    "NaN": (
        softmax("y = torch.softmax(x, 1)\ny[3, 5] = float('nan')\nreturn y"),
        "wrong_result/nonfinite",
    ),
    "a few wrong elements": (
        softmax("y = torch.softmax(x, 1)\ny[:, :3] *= 1.5\nreturn y"),
        "wrong_result/outliers",
    ),
    "memo by identity": (
        softmax(
            "key = (id(x), x.data_ptr(), x._version)\n"
            "if key not in memo: memo[key] = torch.softmax(x, 1)\nreturn memo[key].clone()",
            "memo = {}",
        ),
        "rejected/stale_answer",
    ),
    "memo by a sample": (
        softmax(
            "key = tuple(x.reshape(-1)[::8192].tolist())\n"
            "if key not in memo: memo[key] = torch.softmax(x, 1)\nreturn memo[key].clone()",
            "memo = {}",
        ),
        "rejected/stale_answer",
    ),
    "a deferred tensor": (
        softmax(
            "y = torch.empty_like(x).as_subclass(Lazy)\ny.source = x\nreturn y",
            "class Lazy(torch.Tensor): pass",
        ),
        "rejected/deferred_tensor",
    ),
    "a late writer": (
        softmax(
            "out = torch.zeros_like(x)\n"
            "def work():\n    time.sleep(0.03); out.copy_(torch.softmax(x, 1))\n"
            "threading.Thread(target=work).start()\nreturn out",
            "import threading, time",
        ),
        "rejected/output_changed",
    ),
    "a static buffer": (
        softmax(
            "global out\nif out is None: out = torch.empty_like(x)\n"
            "torch.softmax(x, 1, out=out)\nreturn out",
            "out = None",
        ),
        "rejected/aliased_output",
    ),
    "the input returned": (
        softmax("x.copy_(torch.softmax(x, 1))\nreturn x"),
        "rejected/aliased_output",
    ),
    "a spoilt input": (
        softmax("y = torch.softmax(x, 1)\nx.mul_(0.5)\nreturn y"),
        "rejected/input_changed",
    ),
    "exit at import": (
        f'{HEAD}import os, sys\nprint(\'{{"status": "ok"}}\')\nsys.stdout.flush()\nos._exit(0)\n',
        "rejected/ended_early",
    ),
    "exit in a call": (softmax("raise SystemExit(0)"), "rejected/ended_early"),
    "a crash": (softmax("import ctypes\nctypes.string_at(0)"), "runtime_error/crashed"),
    "garbage on every descriptor": (
        f"{HEAD}import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'PASS' * 50)\n    except OSError: pass\n",
        "rejected/protocol",
    ),
    "not Python": ("class ModelNew(:\n", "compile_error/syntax"),
    "no ModelNew": (HEAD, "compile_error/no_model_new"),
    "a failing import": ("import nothing_of_that_name\n", "compile_error/import_failed"),
    "a failing constructor": (
        f"{HEAD}class ModelNew(nn.Module):\n    def __init__(self):\n        raise ValueError('no')\n",
        "runtime_error/construct_failed",
    ),
    "a failing call": (softmax("raise ValueError('no')"), "runtime_error/call_raised"),
}

NORM_WRONG = {
    "the normalisation dropped": (
        norm("return x + self.down(torch.relu(self.up(x)))"),
        "wrong_result/values",
    ),
    "scale and shift skipped": (
        norm(
            "n = nn.functional.layer_norm(x, (128,))\nreturn x + self.down(torch.relu(self.up(n)))"
        ),
        "wrong_result/values",
    ),
    "a weight missing": (
        norm(
            "return x + self.down(torch.relu(self.up(x)))",
            weights="self.up = nn.Linear(size, hidden)\nself.down = nn.Linear(hidden, size)",
        ),
        "runtime_error/state_mismatch",
    ),
}


def said(verdict: dict[str, object]) -> str:
    """Return status and code of a verdict, in short."""
    status, code = verdict["status"], verdict["code"]
    return f"{status}/{code}" if code else str(status)


@pytest.mark.parametrize("name", RIGHT)
def test_an_honest_candidate_is_right(
    bench: Bench, task_file: Callable[[str], Path], name: str
) -> None:
    verdict = bench.evaluate(task_file(tasks.SOFTMAX), RIGHT[name], stages=CHECK)
    assert said(verdict) == "ok", (verdict, bench.log()[-2000:])
    assert verdict["correct"] is True
    assert verdict["calls_checked"] >= 4


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_candidate_gets_its_code(
    bench: Bench, task_file: Callable[[str], Path], name: str
) -> None:
    source, expected = WRONG[name]
    verdict = bench.evaluate(task_file(tasks.SOFTMAX), source, stages=CHECK)
    assert said(verdict) == expected, (verdict, bench.log()[-2000:])
    assert verdict["cause"]


@pytest.mark.parametrize("name", NORM_WRONG)
def test_a_candidate_that_leaves_parts_out_is_wrong(
    bench: Bench, task_file: Callable[[str], Path], name: str
) -> None:
    source, expected = NORM_WRONG[name]
    verdict = bench.evaluate(task_file(tasks.NORM), source, stages=CHECK)
    assert said(verdict) == expected, (verdict, bench.log()[-2000:])


def test_weights_arrive_whatever_the_order_of_creation(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = norm(
        "return x + self.down(torch.relu(self.up(self.norm(x))))",
        weights="torch.randn(7)\nself.down = nn.Linear(hidden, size)\n"
        "self.up = nn.Linear(size, hidden)\nself.norm = nn.LayerNorm(size)",
    )
    verdict = bench.evaluate(task_file(tasks.NORM), source, stages=CHECK)
    assert said(verdict) == "ok"
    assert verdict["weights_mode"] == "by_name"


def test_weights_folded_in_the_constructor_pass_with_a_flag(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = norm(
        "h = torch.relu(self.norm(x) @ self.up.weight.t() + self.shift)\nreturn x + self.down(h)",
        weights="self.norm = nn.LayerNorm(size)\nself.up = nn.Linear(size, hidden)\n"
        "self.down = nn.Linear(hidden, size)\nself.shift = self.up.bias.detach().clone()",
    )
    verdict = bench.evaluate(task_file(tasks.NORM), source, stages=CHECK)
    assert said(verdict) == "ok", (verdict, bench.log()[-3000:])
    assert verdict["weights_mode"] == "noisy_construction"
    assert "weights_folded" in verdict["flags"]


def test_prepare_is_called_after_the_weights_arrive(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = norm(
        "return x + torch.relu(self.norm(x) @ self.packed + self.up.bias) @ self.down.weight.t() + self.down.bias",
    )
    source += (
        "    def prepare(self):\n        self.packed = self.up.weight.detach().t().contiguous()\n"
    )
    verdict = bench.evaluate(task_file(tasks.NORM), source, stages=CHECK)
    assert said(verdict) == "ok"
    assert verdict["weights_mode"] == "by_name"
    assert verdict["prepare_ms"] >= 0


def test_nested_answers_with_integers_and_none_are_compared(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = tasks.NESTED.replace("class Model(", "class ModelNew(")
    assert said(bench.evaluate(task_file(tasks.NESTED), source, stages=CHECK)) == "ok"
    wrong = source.replace("y.argmax(1)", "y.argmin(1)")
    verdict = bench.evaluate(task_file(tasks.NESTED), wrong, stages=CHECK)
    assert said(verdict) == "wrong_result/integers"
    assert verdict["worst_output"] == "['top']"
    cut = source.replace("[None, (y.sum(1), y.amax(1))]", "[None, (y.sum(1),)]")
    assert (
        said(bench.evaluate(task_file(tasks.NESTED), cut, stages=CHECK)) == "wrong_result/structure"
    )


def test_batch_norm_statistics_are_not_the_initial_ones(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = tasks.BATCH_NORM.replace("class Model(", "class ModelNew(")
    assert said(bench.evaluate(task_file(tasks.BATCH_NORM), source, stages=CHECK)) == "ok"
    dropped = source.replace("self.norm(self.conv(x))", "self.conv(x)")
    verdict = bench.evaluate(task_file(tasks.BATCH_NORM), dropped, stages=CHECK)
    assert said(verdict) == "wrong_result/values"


def test_an_original_that_changes_its_input_allows_it(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = tasks.IN_PLACE.replace("class Model(", "class ModelNew(")
    assert said(bench.evaluate(task_file(tasks.IN_PLACE), source, stages=CHECK)) == "ok"


def test_a_half_precision_answer_is_too_coarse_for_fp32(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    path = task_file(tasks.SOFTMAX)
    verdict = bench.evaluate(
        path, RIGHT["half precision"], stages=CHECK, precision="fp32", qualification=None
    )
    assert said(verdict) == "wrong_result/precision"
    assert verdict["precision_class"] == "bf16"


def test_the_papers_tolerance_is_marked(bench: Bench, task_file: Callable[[str], Path]) -> None:
    path = task_file(tasks.SOFTMAX)
    verdict = bench.evaluate(
        path, RIGHT["half precision"], stages=CHECK, tolerance="paper", qualification=None
    )
    assert said(verdict) == "ok"
    assert verdict["tolerance"] == "paper"


CHANGED = {
    "children_alive": "import subprocess\nchild = subprocess.Popen(['sleep', '60'])\n",
    "threads_alive": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
    "threads_changed": "torch.set_num_threads(2)\n",
    "matmul_precision_set": "torch.set_float32_matmul_precision('high')\n",
    "tf32_allowed": "torch.backends.cuda.matmul.allow_tf32 = True\n",
    "cudnn_tuning_set": "torch.backends.cudnn.benchmark = True\n",
    "deterministic_set": "torch.use_deterministic_algorithms(True)\n",
}
"""What a process may become, honestly: the flag that says so, and what makes it so."""


def test_what_a_candidates_process_has_become_is_flagged_and_not_refused(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = RIGHT["another formula"]
    assert "class ModelNew" in source
    changed = source.replace("class ModelNew", "".join(CHANGED.values()) + "\n\nclass ModelNew")
    path = task_file(tasks.SOFTMAX)
    plain, verdict = (bench.evaluate(path, one, stages=CHECK) for one in (source, changed))
    assert said(plain) == said(verdict) == "ok"
    assert not set(CHANGED) & set(plain["flags"])
    assert set(CHANGED) <= set(verdict["flags"])


UNFIT = {
    "random": (tasks.RANDOM, "stochastic", "differently"),
    "no Model": (tasks.NO_MODEL, "not_kernelbench", "no Model"),
    "no get_inputs": (tasks.NO_INPUTS, "not_kernelbench", "no get_inputs"),
    "not Python": (tasks.NOT_PYTHON, "not_kernelbench", "not a Python file"),
    "needs CUDA": (tasks.NEEDS_CUDA, "reference_fails", "needs CUDA"),
    "constant": (tasks.CONSTANT, "weak_signal", "hardly depends"),
    "too large": (tasks.TOO_LARGE, "too_large", "MiB"),
    "raises": (tasks.RAISES, "reference_fails", "forward"),
    "lacks a package": (tasks.LACKS, "reference_fails", "needs the package nowhere_known"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_task_that_cannot_judge_says_why(
    bench: Bench, task_file: Callable[[str], Path], name: str
) -> None:
    source, code, words = UNFIT[name]
    verdict = bench.evaluate(task_file(source), RIGHT["another formula"], stages=CHECK)
    assert said(verdict) == f"task_unfit/{code}"
    assert words in str(verdict["cause"])
