# SPDX-License-Identifier: BSD-2-Clause
"""The cases that documents and examples show in Scapy pass as they are printed."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from own_cases import HEAD, Suite

from roceproof.common.paths import REPOSITORY

SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
RESPONDER_HEAD = """
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.wire.scapy import *
pytestmark = RESPONDER
"""


def cases_of(document: str) -> list[str]:
    text = (REPOSITORY / "docs" / document).read_text()
    return [snippet for snippet in SNIPPET.findall(text) if "@case(" in snippet]


def outcomes(folder: Path, *arguments: str) -> Counter[str]:
    shutil.copy(REPOSITORY / "examples" / "scapy_cases" / "my_cases.py", folder / "test_example.py")
    (crafting,) = cases_of("crafting.md")
    (folder / "test_crafting.py").write_text(crafting)
    (folder / "test_suite.py").write_text("\n".join([HEAD, RESPONDER_HEAD, *cases_of("suite.md")]))
    mine = Suite(folder)
    done = mine.run("-j1", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return Counter(case["outcome"] for case in mine.results())


def test_on_the_model_all_of_them_run(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "--target", "model") == {"passed": 9}


@pytest.mark.sim
def test_on_the_reference_device_those_of_a_requester_run(tmp_path: Path) -> None:
    assert outcomes(tmp_path, "--target", "hdl", "--width", "64") == {"passed": 4, "skipped": 5}
