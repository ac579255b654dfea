# SPDX-License-Identifier: BSD-2-Clause
"""The templates of CI systems: their script lines run as they stand, and install what is needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from roceproof.common.paths import REPOSITORY

GITHUB = REPOSITORY / ".github" / "workflows" / "gate.yml"
GITLAB = REPOSITORY / "ci" / "templates" / "gate.gitlab-ci.yml"
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
SMOKE = {"MANIFEST": "dut.toml", "SUITE": "smoke", "BASELINE": "", "GUEST": "false"}
PLACES = {"OUT": "build/gate"}


def of_github(*names: str) -> str:
    (job,) = yaml.safe_load(GITHUB.read_text())["jobs"].values()
    assert job["env"]["OUT"] == PLACES["OUT"]
    steps = {step.get("name"): step for step in job["steps"]}
    return "\n".join(steps[name]["run"] for name in names)


def of_gitlab(*names: str) -> str:
    (job,) = yaml.safe_load(GITLAB.read_text()).values()
    assert job["variables"]["OUT"] == PLACES["OUT"]
    return "\n".join(line for name in names for line in job[name])


INSTALLS = {"github": of_github("Install"), "gitlab": of_gitlab("before_script")}
GATES = {"github": of_github("Gate", "Summary"), "gitlab": of_gitlab("script")}


def run_lines(lines: str, folder: Path, values: Mapping[str, str]) -> subprocess.CompletedProcess:
    summary = str(folder / "summary.md")
    environment = {**os.environ, **PLACES, **values, "GITHUB_STEP_SUMMARY": summary}
    return subprocess.run(
        [*BASH, "-c", lines],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("system", INSTALLS)
def test_it_installs_what_the_document_says_a_gate_needs(system: str) -> None:
    document = (REPOSITORY / "docs" / "install.md").read_text()
    rows = re.findall(r"^\| `(?:sim|env)`.*`([^`]+)` \|$", document, re.MULTILINE)
    assert len(rows) == 2
    needed = {package for row in rows for package in row.split()}
    (command,) = re.findall(r"install -qq -y (.*?)(?=\n\w+ |$)", INSTALLS[system], re.DOTALL)
    words = set(command.replace("\\\n", " ").split())
    assert words == needed | {"--no-install-recommends", "pipx", "ccache"}


@pytest.mark.parametrize("system", GATES)
def test_its_lines_are_sound_for_shellcheck(system: str, tmp_path: Path) -> None:
    script = tmp_path / "lines"
    script.write_text(f"{INSTALLS[system]}\n{GATES[system]}\n")
    done = subprocess.run(["shellcheck", "-s", "bash", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("system", GATES)
@pytest.mark.parametrize(
    ("said", "options"),
    [
        ({}, ["--suite", "smoke", "--out", "build/gate", "--no-guest"]),
        (
            {"GUEST": "true", "BASELINE": "old one.json"},
            ["--suite", "smoke", "--out", "build/gate", "--baseline", "old one.json"],
        ),
    ],
)
@pytest.mark.parametrize("code", [0, 1])
def test_the_gate_gets_what_was_asked_for_and_its_verdict_is_the_jobs(
    system: str, said: dict[str, str], options: list[str], code: int, tmp_path: Path
) -> None:
    """A script in place of roceproof notes its arguments."""
    stand_in = tmp_path / "bin" / "roceproof"
    stand_in.parent.mkdir()
    stand_in.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > said\nexit {code}\n")
    stand_in.chmod(0o755)
    path = f"{stand_in.parent}:{os.environ['PATH']}"
    done = run_lines(GATES[system], tmp_path, {**SMOKE, **said, "PATH": path})
    assert done.returncode == code, done.stderr
    assert (tmp_path / "said").read_text().splitlines() == ["gate", "dut.toml", *options]


@pytest.fixture
def machine(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """Variables with which pipx installs a wheel into a folder of its own."""
    if os.geteuid() or not shutil.which("apt-get"):
        pytest.skip("the lines install packages: that takes root, and apt")
    sudo = tmp_path / "bin" / "sudo"
    sudo.parent.mkdir()
    sudo.write_text('#!/bin/sh\nexec "$@"\n')
    sudo.chmod(0o755)

    def variables(package: str) -> dict[str, str]:
        home = tmp_path / "home"
        path = f"{home}/.local/bin:{sudo.parent}:{os.environ['PATH']}"
        cache = str(tmp_path / "cache")
        home.mkdir()
        return {**SMOKE, "PACKAGE": package, "HOME": str(home), "PATH": path} | {
            "ROCEPROOF_CACHE": cache,
            "PIP_CACHE_DIR": str(Path("~/.cache/pip").expanduser()),
        }

    return variables


@pytest.mark.slow
@pytest.mark.parametrize("system", GATES)
def test_on_this_machine_the_lines_install_a_wheel_and_judge_an_example(
    system: str, machine: Callable[[str], dict[str, str]], wheel: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "examples" / "uc_writer"
    shutil.copytree(REPOSITORY / "examples" / "uc_writer", folder)
    (tmp_path / "rtl").mkdir()
    shutil.copy(REPOSITORY / "rtl" / "roceproof_dut_pkg.sv", tmp_path / "rtl")
    values = machine(str(wheel))
    done = run_lines(f"{INSTALLS[system]}\n{GATES[system]}", folder, values)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS uc_writer" in done.stdout
    assert json.loads((folder / "build/gate/gate.json").read_text())["verdict"] == "pass"
    if system == "github":
        assert (folder / "summary.md").read_text().startswith("## roceproof gate: pass")
