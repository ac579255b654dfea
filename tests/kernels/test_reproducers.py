# SPDX-License-Identifier: BSD-2-Clause
"""The reproducer for the kernel's maintainers builds by itself, and shows what its table says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from roceproof.common.paths import BUILD, REPOSITORY
from roceproof.rxe_env import kernel
from roceproof.rxe_env.inside import run_inside_vm

UPSTREAM = REPOSITORY / "docs" / "upstream"
FLAGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror")
DEVIATES, AS_IT_SHOULD_BE = "deviates", "as it should be"
CODES = {DEVIATES: 1, AS_IT_SHOULD_BE: 0}


def told() -> dict[str, dict[str, str]]:
    """By case, what the table says of each kernel."""
    lines = (UPSTREAM / "README.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    heads, cells = rows[0], rows[2:]
    return {
        re.sub(r"\[(.+)\]\(.+\)", r"\1", row[0]): dict(zip(heads[2:], row[2:], strict=True))
        for row in cells
    }


def build(place: Path) -> Path:
    program = place / "rxe_repro"
    source = UPSTREAM / "rxe_repro.c"
    subprocess.run(["cc", *FLAGS, "-o", program, source, "-libverbs"], check=True)
    return program


def test_it_builds_by_itself_and_says_its_cases(tmp_path: Path) -> None:
    done = subprocess.run([build(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"usage: rxe_repro {'|'.join(told())}\n"


@pytest.mark.parametrize("name", told())
def test_each_has_a_report_with_a_capture_and_the_same_words(name: str) -> None:
    text = (UPSTREAM / f"{name}.md").read_text()
    for heading in ("Tried", "Severity", "Due", "Seen", "Reproducer", "Capture"):
        assert f"**{heading}**" in text
    assert "**Suspected**" in text or (UPSTREAM / f"{name}.patch").is_file()
    assert f"`./rxe_repro {name}`" in text
    (capture,) = re.findall(r"\.\./findings/(\S+\.pcapng)\)", text)
    assert (UPSTREAM.parent / "findings" / capture).is_file()
    is_old_sound = told()[name]["6.1.0-56"] == AS_IT_SHOULD_BE
    assert ("as it should be" in text) == is_old_sound


@pytest.mark.rxe
@pytest.mark.slow  # one machine from cold; that it builds stands for it
def test_on_the_distributions_kernel_each_does_what_the_table_says() -> None:
    release = kernel.fetch().release
    column = next((head for head in told()["reset"] if release.startswith(head)), None)
    if column is None:
        pytest.skip(f"the table does not tell of {release}")
    place = BUILD / "upstream"
    place.mkdir(parents=True, exist_ok=True)
    program = build(place)
    script = "".join(
        f"timeout 30 {program} {name}; echo {name} code $?; rdma link delete repro; "
        for name in told()
    )
    _, printed = run_inside_vm(["sh", "-c", script])
    codes = dict(re.findall(r"^(\S+) code (\d+)$", printed, re.MULTILINE))
    assert codes == {name: str(CODES[row[column]]) for name, row in told().items()}
