# SPDX-License-Identifier: BSD-2-Clause
"""The reproducer for the kernel's maintainers builds by itself, and shows what its table says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.conformance.kernels import reproducers
from roceproof.conformance.kernels.reproducers import (
    AS_IT_SHOULD_BE,
    DEVIATES,
    NOT_TOLD,
    UPSTREAM,
    build,
    main,
    seen,
    told,
    told_of,
)
from roceproof.rxe_env import kernel
from roceproof.rxe_env.errors import Unavailable

NO_VERBS = "r.c:9:10: fatal error: infiniband/verbs.h: No such file or directory"


def test_it_builds_by_itself_and_says_its_cases(tmp_path: Path) -> None:
    done = subprocess.run([build(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"usage: rxe_repro {'|'.join(told())}\n"


@pytest.mark.parametrize("name", told())
def test_each_has_a_report_with_a_capture_and_the_same_words(name: str) -> None:
    text = (UPSTREAM / f"{name}.md").read_text()
    for heading in ("Tried", "Severity", "Due", "Seen", "Fix", "Reproducer", "Capture"):
        assert f"**{heading}**" in text
    assert f"({name}.patch)" in text
    assert (UPSTREAM / f"{name}.patch").is_file()
    assert f"`./rxe_repro {name}`" in text
    (capture,) = re.findall(r"\.\./findings/(\S+\.pcapng)\)", text)
    assert (UPSTREAM.parent / "findings" / capture).is_file()
    is_old_sound = told()[name]["6.1.0-56"] == AS_IT_SHOULD_BE
    assert ("as it should be" in text) == is_old_sound


@pytest.mark.parametrize("name", told())
def test_each_patch_is_whole_and_mends_rxe_alone(name: str) -> None:
    command = ["git", "apply", "--numstat", UPSTREAM / f"{name}.patch"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    changed = [line.split("\t")[2] for line in done.stdout.splitlines()]
    assert changed
    assert all(path.startswith("drivers/infiniband/sw/rxe/rxe_") for path in changed)


def test_a_kernel_that_the_table_does_not_name_is_told_nothing_of() -> None:
    assert told_of("6.1.0-56-amd64", told())["reset"] == AS_IT_SHOULD_BE
    assert told_of("6.12.117+deb12-amd64", told())["reset"] == DEVIATES
    assert set(told_of("6.1.0-5-amd64", told()).values()) == {NOT_TOLD}


@pytest.mark.parametrize("code", ["0", "1", "2"])
def test_what_shows_otherwise_than_the_table_says_is_a_finding(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that says one exit code for all cases, behind a build that is not needed."""
    printed = "\n".join(f"{name} code {code}" for name in told())
    monkeypatch.setattr(reproducers, "build", lambda place: place)
    monkeypatch.setattr(reproducers, "run_inside_vm", lambda argv, kernel: (0, printed))
    monkeypatch.setattr(reproducers.kernels, "find", lambda wanted, step: _Kernel(wanted))
    done = CliRunner().invoke(main, ["6.12.117"])
    assert done.exit_code == (0 if code == "1" else 1)
    assert ("told: deviates" in done.stdout) == (code != "1")
    assert ("no verdict (exit code 2)" in done.stdout) == (code == "2")


@pytest.mark.parametrize(("code", "end"), [("0", 0), ("1", 0), ("2", 1), ("124", 1)])
def test_on_a_kernel_that_is_not_told_of_each_has_a_verdict(
    code: str, end: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = "\n".join(f"{name} code {code}" for name in told())
    monkeypatch.setattr(reproducers, "build", lambda place: place)
    monkeypatch.setattr(reproducers, "run_inside_vm", lambda argv, kernel: (0, printed))
    monkeypatch.setattr(reproducers.kernels, "find", lambda wanted, step: _Kernel(wanted))
    assert CliRunner().invoke(main, ["9.9"]).exit_code == end


class _Kernel:
    """As much of a kernel as is asked."""

    def __init__(self, release: str) -> None:
        self.release = release


@pytest.mark.parametrize("has_compiler", [False, True])
def test_what_a_machine_lacks_to_build_it_is_one_line_and_no_finding(
    has_compiler: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_compiler:
        compiler = tmp_path / "cc"
        compiler.write_text(f"#!/bin/sh\necho '{NO_VERBS}\ncompilation terminated.' >&2\nexit 1\n")
        compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(reproducers, "BUILD", tmp_path)
    done = CliRunner().invoke(main, ["6.12"])
    package = "libibverbs-dev" if has_compiler else "gcc"
    assert done.exit_code == 2
    assert not done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("roceproof: cc ")
    assert line.endswith(f": apt-get install {package}")


def test_a_kernel_that_there_is_not_is_one_line_and_no_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find(wanted: str, step: object) -> None:
        raise Unavailable(f"apt has no kernel {wanted}")

    monkeypatch.setattr(reproducers, "build", lambda place: place)
    monkeypatch.setattr(reproducers.kernels, "find", find)
    done = CliRunner().invoke(main, ["9.9"])
    assert done.exit_code == 2
    assert done.stderr == "roceproof: apt has no kernel 9.9\n"


@pytest.mark.rxe
@pytest.mark.slow  # one machine from cold; that it builds stands for it
def test_on_the_distributions_kernel_each_does_what_the_table_says() -> None:
    table = told()
    due = told_of(kernel.fetch().release, table)
    if NOT_TOLD in due.values():
        pytest.skip("the table does not tell of this kernel")
    place = reproducers.BUILD / "upstream"
    assert seen(build(place), list(table), kernel=None) == due
