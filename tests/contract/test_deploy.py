"""What docs/deploy/ and docs/many-machines.md show: it parses, it names what there is, its commands are pike's."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from sessions import endpoints
from tests.contract.test_promises import shown_commands
from workbench.arguments import BY_NAME, parse

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
SCRIPTS = sorted(DEPLOY.glob("*.sbatch"))
PAGE = (ROOT / "docs" / "many-machines.md").read_text(encoding="utf-8")
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = {
    "bubblewrap",
    "g++",
    "git",
    "openssh-client",
    "python3",
    "python3-dev",
    "python3-venv",
    "tmux",
}
"""Names that Debian 12 and Ubuntu 24.04 both have: each was installed from the first."""
OPTIONS = {
    *(
        "array",
        "chdir",
        "comment",
        "constraint",
        "cpus-per-gpu",
        "cpus-per-task",
        "dependency",
        "error",
    ),
    *(
        "exclude",
        "exclusive",
        "export",
        "gpus",
        "gpus-per-node",
        "gpus-per-task",
        "gres",
        "job-name",
        "mem",
    ),
    *(
        "mem-per-cpu",
        "mem-per-gpu",
        "no-kill",
        "no-requeue",
        "nodelist",
        "nodes",
        "ntasks",
        "output",
    ),
    *("ntasks-per-node", "open-mode", "partition", "qos", "requeue", "signal", "time", "account"),
}
"""Options of sbatch that a script may use, of its manual."""


def instructions(text: str) -> list[tuple[str, str]]:
    """Return a container file's instructions, continued lines joined, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    pairs = [line.partition(" ")[::2] for line in joined.splitlines() if line.strip()]
    return [(name.upper(), rest.strip()) for name, rest in pairs]


STEPS = instructions(CONTAINERFILE)


def of(name: str) -> list[str]:
    return [rest for step, rest in STEPS if step == name]


def test_the_container_file_has_instructions_that_exist_and_two_stages() -> None:
    known = {"ARG", "FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "CMD"}
    assert {step for step, _ in STEPS} <= known
    assert of("FROM") == ["${BASE} AS wheel", "${BASE}"]
    assert re.fullmatch(r"BASE=\S+/nvidia/cuda:\d+\.\d+\.\d+-devel-ubuntu\d\d\.04", of("ARG")[0])


def test_all_that_the_container_file_copies_is_in_the_checkout_and_is_all_of_the_wheel() -> None:
    taken: set[str] = set()
    for rest in of("COPY"):
        words = rest.split()
        if words[0] == "--from=wheel":
            continue
        assert all((ROOT / source).exists() for source in words[:-1]), rest
        taken |= set(words[:-1])
    rooms = {name.partition(".")[0] for name in _wheel_packages()}
    assert taken >= rooms | {"pyproject.toml", "README.md", "LICENSE", "constraints.txt"}
    assert not taken & {".", "./", "*", "tests", ".venv", ".git"}


def _wheel_packages() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return project["tool"]["setuptools"]["packages"]


def test_the_container_file_installs_our_wheel_with_extras_that_exist() -> None:
    (found,) = re.findall(r"/wheels/([a-z_]+)-\*\.whl\)\[([a-z,]+)\]", CONTAINERFILE)
    name, extras = found
    assert name == PROJECT["name"].replace("-", "_")
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])


def test_the_container_file_installs_packages_by_names_that_exist() -> None:
    for rest in of("RUN"):
        for words in re.findall(r"apt-get install -y --no-install-recommends ([^&]+)", rest):
            assert set(words.split()) <= PACKAGES, rest
            assert "rm -rf /var/lib/apt/lists/*" in rest


def test_the_container_file_holds_no_secret_and_ends_as_a_user_without_rights() -> None:
    assert not re.search(r"(?i)(key|token|password|secret)\s*=", CONTAINERFILE)
    assert of("USER") == ["pike"]
    after = [step for step, _ in STEPS][[step for step, _ in STEPS].index("USER") :]
    assert "RUN" not in after
    assert of("CMD") == ['["pike", "doctor"]']


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_batch_script_is_one_that_bash_reads(script: Path) -> None:
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert script.read_text(encoding="utf-8").startswith("#!/bin/bash\n")


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_batch_script_is_one_that_shellcheck_passes(script: Path) -> None:
    argv = ["shellcheck", "--severity=warning", str(script)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_batch_script_asks_slurm_for_what_slurm_knows_before_its_first_command(
    script: Path,
) -> None:
    text = script.read_text(encoding="utf-8")
    head = text[: text.index("\nset -euo pipefail\n")]
    asked = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    assert asked
    assert all(line in head for line in asked), "what follows a command is ignored"
    for line in asked:
        option = re.fullmatch(r"#SBATCH --([a-z-]+)(?:=(\S+))?", line)
        assert option, line
        assert option[1] in OPTIONS, line
    signal = re.search(r"--signal=(?:B:)?(USR1|TERM)@(\d+)$", head, re.M)
    assert signal, "it is told before its end"
    assert 60 <= int(signal[2]) <= 600
    assert "--gpus-per-node=" in head


def script_commands(script: Path) -> list[str]:
    """Return the `pike …` of a script, with a word for what only a shell can put there."""
    text = re.sub(r"^#.*\n", "", script.read_text(encoding="utf-8"), flags=re.M)
    found = re.findall(r"(?:^|[\s(])(pike (?:[a-z])[^;&|)>'#\n]*)", text, re.M)
    words = {'run "$@"': "run FILE", '"$name" "$@"': "NAME", '"0.0.0.0:$PORT"': "0.0.0.0:1"}
    for there, word in words.items():
        found = [line.replace(there, word) for line in found]
    return [line.strip() for line in found]


def understood(line: str) -> bool:
    """Return whether pike understands it, and raise its refusal if not."""
    return parse(shlex.split(line)[1:]).command in BY_NAME


@pytest.mark.parametrize(
    "line", sorted({line for script in SCRIPTS for line in script_commands(script)})
)
def test_a_command_of_a_batch_script_is_one_that_pike_understands(line: str) -> None:
    assert understood(line)


def test_each_batch_script_has_commands_of_pike() -> None:
    assert all(script_commands(script) for script in SCRIPTS)
    assert {"ray.sbatch", "host.sbatch", "step.sbatch"} == {script.name for script in SCRIPTS}


@pytest.mark.parametrize("line", sorted(set(shown_commands(PAGE))))
def test_a_command_the_page_shows_is_one_that_pike_understands(line: str) -> None:
    assert understood(line)


def test_the_page_names_settings_that_exist() -> None:
    tables = "\n".join(re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S))
    evaluators = tomllib.loads(tables)["evaluators"]
    keys = {key for table in evaluators.values() for key in table}
    assert keys <= set(endpoints.KEYS)


@pytest.mark.parametrize("page", sorted(DEPLOY.parent.glob("*.md")), ids=lambda page: page.name)
def test_each_table_of_settings_a_page_shows_can_be_pasted_whole(page: Path) -> None:
    for block in re.findall(r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        assert tomllib.loads(block)


def test_the_page_links_files_that_are_there_and_names_every_file_of_the_folder() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE)
    missing = [link for link in links if "://" not in link and not (DEPLOY.parent / link).exists()]
    assert not missing
    assert all(f"deploy/{path.name}" in PAGE for path in DEPLOY.iterdir())
