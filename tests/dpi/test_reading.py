# SPDX-License-Identifier: BSD-2-Clause
"""Devices that ask for data: what the contract hands them, and what is asked of them for that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.manifest_claims import claims_of
from roceproof.dpi import ManifestError, load_manifest
from roceproof.dpi.contract.records import Operands

MANIFEST = """\
schema = 2
name = "reading"
top = "reading"
sources = ["a.sv"]
clock_ps = 6400
data_widths = [64]

[capabilities]
RC = ["WRITE", "READ", "CMP_SWAP", "FETCH_ADD"]

[responder] # for the memory that answers go to; it executes nothing
"""


def edited(tmp_path: Path, old: str = "", new: str = "") -> Path:
    assert not old or MANIFEST.count(old) == 1
    (tmp_path / "a.sv").touch()
    (tmp_path / "dut.toml").write_text(MANIFEST.replace(old, new))
    return tmp_path / "dut.toml"


def test_operands_are_their_32_bytes() -> None:
    operands = Operands(
        address=0x1122334455667788, lkey=0x99AABBCC, compare=0x0102030405060708, swap_or_add=9
    )
    assert operands.pack().hex() == (
        "1122334455667788" "99aabbcc" "00000000" "0102030405060708" "0000000000000009"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("RC = [", "UC = [", "capabilities.UC: READ and atomics are for RC alone"),
        ("[responder] ", "#", "capabilities.RC: what READs return needs memory"),
    ],
)
def test_who_cannot_ask_is_told(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(ManifestError, match=re.escape(words)):
        load_manifest(edited(tmp_path, old, new))


def test_who_asks_claims_that_and_answers_nobody(tmp_path: Path) -> None:
    names = claims_of(load_manifest(edited(tmp_path))).capabilities
    assert {Capability.READ, Capability.ATOMIC, Capability.MEMORY} <= names
    assert Capability.RESPONDER not in names
    one = claims_of(load_manifest(edited(tmp_path, ', "FETCH_ADD"', ""))).capabilities
    assert Capability.ATOMIC not in one  # cases ask for both
