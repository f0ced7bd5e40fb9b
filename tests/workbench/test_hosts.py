"""The machines that evaluate: shown by `pike doctor`, checked before a session starts there."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from workbench import config, doctor, hosts
from workbench.commands import doctor_hosts
from workbench.errors import CannotGoOn, WrongUsage
from workbench.hosts import Host, Place

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.commanding import Pike
    from workbench.config import Settings

H200 = Place("cuda:0", "NVIDIA H200", "GPU-1", 4, 4)
H100 = Place("cuda:0", "NVIDIA H100 80GB HBM3", "GPU-2", 4, 4)
PROCESSOR = Place("cpu", "a CPU", "cpu", 1, 1)
GOOD = Host("ray", "gpu1", sandbox="bwrap", places=(H200, PROCESSOR))
OTHER = replace(GOOD, name="gpu2", places=(H100,))
LEFT_OUT = Host("ray", "gpu3", problem="it has pike 0.0.9, and 0.1.0 is here")


def test_this_machine_is_shown_with_its_devices_versions_and_places(pike: Pike) -> None:
    told = pike("doctor", "--executor", "local")
    assert told.code == 0
    (head, row) = told.out.splitlines()[:2]
    assert head.split()[:5] == ["evaluator", "host", "device", "model", "uuid"]
    assert row.startswith("ok  local")
    (host,) = pike("doctor", "--executor", "local", "--json").json
    assert [place["device"] for place in host["places"]][-1] == "cpu"
    assert host["judge"]
    assert host["torch"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--executor", "slurm"), 2, "'slurm' is no executor; there are local, ray"),
        (("--executor", "local", "--facts"), 2, "leave out --selftest and --facts"),
    ],
)
def test_what_is_no_executor_is_refused(
    pike: Pike, words: tuple[str, ...], code: int, says: str
) -> None:
    told = pike("doctor", *words)
    assert (told.code, says in told.err) == (code, True)


def test_evaluators_of_the_settings_are_asked_and_one_that_is_gone_says_why(
    pike: Pike, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = [sys.executable, "-P", "-m", "mcp_server", "serve", "--engine"]
    tables = f"[evaluators.near]\ncommand = {shlex.join(server)!r}\n"
    tables += "[evaluators.gone]\ncommand = '/no/such/program'\n"
    (tmp_path / "pike.toml").write_text(tables, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    rows = {row["name"]: row for row in pike("doctor", "--json").json}
    near = next(row for name, row in rows.items() if name.startswith("evaluator near "))
    assert "cpu" in near["found"]
    gone = rows["evaluator gone"]
    assert (gone["state"], "no evaluator can be started" in gone["found"]) == ("warning", True)
    assert "/no/such/program" in gone["found"]
    assert "ExceptionGroup" not in gone["found"]
    told = pike("doctor", "--executor", "gone")
    assert told.code == 1
    assert "left out" in told.out


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that holds what the scripted evaluator `far` says of its hosts."""
    path = tmp_path / "hosts.json"
    monkeypatch.setenv("PIKE_TEST_HOSTS", str(path))
    return path


def far() -> Settings:
    """Return settings whose one evaluator is the scripted one."""
    words = [sys.executable, "-m", "tests.sessions.scripted_server"]
    return replace(config.load({}), evaluators={"far": {"command": words}})


def test_a_host_s_words_are_inert(said: Path) -> None:
    hostile: dict[str, object] = {"host": "gpu\x1b[31m1\n", "problem": "\x07gone", "places": []}
    said.write_text(json.dumps([hostile]), encoding="utf-8")
    (host,) = hosts.of_settings(far())
    assert "\x1b" not in host.name
    assert "\n" not in host.name
    assert "\x07" not in host.problem


def test_a_cluster_none_of_whose_machines_will_do_is_refused_and_asked_once_a_minute(
    said: Path,
) -> None:
    gone = {"host": "gpu3", "problem": "it has pike 0.0.9"}
    said.write_text(json.dumps([gone]), encoding="utf-8")
    with pytest.raises(CannotGoOn, match="no machine of far can evaluate: gpu3: it has pike 0"):
        hosts.usable("far", far())
    said.write_text(json.dumps([gone, {"host": "gpu1", "sandbox": "bwrap"}]), encoding="utf-8")
    assert [host.name for host in hosts.usable("far", far()).hosts] == ["gpu1"]
    said.unlink()
    assert hosts.usable("far", far()).told == "gpu3 is left out: it has pike 0.0.9"


def test_machines_left_out_weak_or_mixed_are_told_of() -> None:
    weak = replace(GOOD, name="gpu4", sandbox="process", pike="0.0.1")
    assert len(weak.warnings) == 2
    assert not replace(weak, problem="gone").warnings
    assert hosts.models([GOOD, OTHER, LEFT_OUT]) == {H200.model: 1, H100.model: 1}
    assert "stays on the model of its first verdict" in hosts.mixed([GOOD, OTHER])
    assert not hosts.mixed([GOOD, GOOD])
    assert [doctor.row_of(h).state for h in (GOOD, weak, LEFT_OUT)] == ["ok", "warning", "warning"]
    assert [doctor_hosts.code(h) for h in ([LEFT_OUT], [LEFT_OUT, GOOD], [])] == [1, 0, 1]


def test_a_session_s_device_is_any_gpu_of_those_that_are_used() -> None:
    assert hosts.device([GOOD, OTHER], "auto") == "cuda"
    assert hosts.device([GOOD], "cuda:0") == "cuda:0"
    processors = replace(GOOD, places=(PROCESSOR,))
    assert hosts.device([processors, replace(OTHER, problem="gone")], "auto") == "cpu"
    with pytest.raises(
        WrongUsage, match="no machine there has a device 'cuda'; --device may be: cpu"
    ):
        hosts.device([processors], "cuda")
