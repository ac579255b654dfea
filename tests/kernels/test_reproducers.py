# SPDX-License-Identifier: BSD-2-Clause
"""The reproducer for the kernel's maintainers builds by itself, and shows what its table says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.common.errors import RoceproofError
from roceproof.conformance.kernels import reproducers
from roceproof.conformance.kernels.reproducers import (
    AS_IT_SHOULD_BE,
    DEVIATES,
    NO_VERDICT,
    NOT_TOLD,
    PANICS,
    build,
    main,
    seen,
    sources,
    told,
    told_of,
)
from roceproof.rxe_env.errors import Unavailable
from roceproof.rxe_env.kernel import distribution

NO_VERBS = "r.c:9:10: fatal error: infiniband/verbs.h: No such file or directory"


def test_it_builds_by_itself_and_says_what_it_lacks(tmp_path: Path) -> None:
    done = subprocess.run([build(tmp_path), "none"], capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stdout == "TAP version 13\n1..0\n"


def test_its_cases_are_those_of_the_ledger() -> None:
    text = "".join(sources().values())
    assert set(re.findall(r'^\t\{ "([\w-]+)",\s+\w+,\s+\{ IBV', text, re.MULTILINE)) == set(told())


def test_a_kernel_that_the_table_does_not_name_is_told_nothing_of() -> None:
    assert told_of("6.1.0-56-amd64", told())["reset-index"] == AS_IT_SHOULD_BE
    assert told_of("6.12.117+deb12-amd64", told())["reset-index"] == DEVIATES
    assert set(told_of("6.1.0-5-amd64", told()).values()) == {NOT_TOLD}


def _printed(line: str) -> str:
    return "module -\n# got nothing\n" + "".join(
        line.format(number=number, case=case) for number, case in enumerate(told(), 1)
    )


LINES = {
    AS_IT_SHOULD_BE: "ok {number} {case}\n",
    DEVIATES: "not ok {number} {case}\n",
    NO_VERDICT: "ok {number} {case} # SKIP no way to tell\n",
    "the machine died": "",
}


@pytest.mark.parametrize("verdict", LINES)
def test_what_shows_otherwise_than_the_ledger_says_is_a_finding(
    verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that says one thing of all cases, behind a build that is not needed."""
    _stand_in(monkeypatch, _printed(LINES[verdict]))
    done = CliRunner().invoke(main, ["6.12.117"])
    assert done.exit_code == (0 if verdict == DEVIATES else 1)
    assert ("told: deviates" in done.stdout) == (verdict != DEVIATES)
    assert (NO_VERDICT in done.stdout) == (verdict not in (AS_IT_SHOULD_BE, DEVIATES))


@pytest.mark.parametrize("verdict", LINES)
def test_on_a_kernel_that_is_not_told_of_each_has_a_verdict(
    verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stand_in(monkeypatch, _printed(LINES[verdict]))
    code = CliRunner().invoke(main, ["9.9"]).exit_code
    assert code == (0 if verdict in (AS_IT_SHOULD_BE, DEVIATES) else 1)


def test_a_kernel_that_a_case_panics_is_not_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def run_inside(argv: list[str], **_: object) -> tuple[int, str]:
        asked.extend(argv)
        return 0, _printed(LINES[DEVIATES])

    _stand_in(monkeypatch, "")
    monkeypatch.setattr(reproducers, "run_inside_vm", run_inside)
    CliRunner().invoke(main, ["6.1.0-56"])
    assert "ack-psn" in asked[-1]
    assert "zero-dmalen" not in asked[-1]


def test_modules_are_tried_one_behind_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = "module plain\nnot ok 1 q-key\nmodule mine\nok 1 q-key\n"
    monkeypatch.setattr(reproducers, "run_inside_vm", lambda *words, **options: (0, printed))
    modules = {"plain": None, "mine": Path("/x.ko")}
    assert seen(Path("p"), ["q-key"], kernel=None, modules=modules) == {
        "plain": {"q-key": DEVIATES},
        "mine": {"q-key": AS_IT_SHOULD_BE},
    }


def _stand_in(monkeypatch: pytest.MonkeyPatch, printed: str) -> None:
    monkeypatch.setattr(reproducers, "build", lambda place: place)
    monkeypatch.setattr(reproducers, "run_inside_vm", lambda *words, **options: (0, printed))
    monkeypatch.setattr(reproducers.versions, "find", lambda wanted, step: _Kernel(wanted))


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
    assert not done.stdout
    assert isinstance(done.exception, RoceproofError)
    (line,) = str(done.exception).splitlines()
    assert line.startswith("cc ")
    assert line.endswith(f": apt-get install {package}")


def test_a_kernel_that_there_is_not_is_one_line_and_no_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find(wanted: str, step: object) -> None:
        raise Unavailable(f"apt has no kernel {wanted}")

    monkeypatch.setattr(reproducers, "build", lambda place: place)
    monkeypatch.setattr(reproducers.versions, "find", find)
    done = CliRunner().invoke(main, ["9.9"])
    assert isinstance(done.exception, Unavailable)


@pytest.mark.rxe
@pytest.mark.slow  # one machine from cold; that it builds stands for it
def test_on_the_distributions_kernel_each_does_what_the_table_says() -> None:
    table = told()
    due = told_of(distribution.fetch().release, table)
    if NOT_TOLD in due.values():
        pytest.skip("the table does not tell of this kernel")
    place = reproducers.BUILD / "upstream"
    names = [name for name in table if due[name] != PANICS]
    (shown,) = seen(build(place), names, kernel=None).values()
    assert shown == {name: due[name] for name in names}
