# SPDX-License-Identifier: BSD-2-Clause
"""Manifests of schema 2: operations by service, limits, fixed values, and how it is built."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.dpi import ManifestError, Operation, PathMtu, Service, load_manifest
from roceproof.dpi.manifest.dut import CONTRACT
from roceproof.verbs.limit_table import LIMITS, Kind, why_beyond
from roceproof.verbs.limits import Limits, told
from roceproof.verbs.work import Op

RESPONDER = """\
[responder]
RC = ["WRITE", "SEND"]
UC = ["WRITE"]
regions = 4
states = true
"""
REGION = """\
[[region]]
rkey = 1
length = 4
access = ["remote_write"]
{more}
"""
GOOD = """\
schema = 2
name = "mine"
top = "my_top"
sources = ["*.sv"]
includes = ["inc"]
clock_ps = 6400
data_widths = [64]
warnings = ["LATCH"]
[defines]
DEPTH = 4
SYNTHESIS = ""
[parameters]
Slots = 4
Kind = "8'h5"
[capabilities]
RC = ["WRITE", "WRITE_IMM"]
UC = ["WRITE"]
[limits]
path_mtus = [1024]
qps = 2
length_multiple = 4
length = [4, 65536]
outstanding_messages = 4
outstanding_packets = 16
outstanding_shared = true
quiet_cycles = 20000
[fixed]
solicited = true
hop_limit = 64
[environment]
resolves_addresses = true
"""
LEAST = """\
schema = 2
name = "mine"
top = "my_top"
sources = ["a.sv"]
clock_ps = 6400
data_widths = [64]
[capabilities]
RC = ["WRITE"]
"""


WAIVED = """\
[[waivers]]
limits = {{ {limits} }}
reason = "with the next core"
expires = {expires}
"""


@pytest.fixture
def write(tmp_path: Path):
    (tmp_path / "a.sv").write_text("module my_top; endmodule\n")
    (tmp_path / "inc").mkdir()

    def write(text: str) -> Path:
        path = tmp_path / "dut.toml"
        path.write_text(text)
        return path

    return write


def test_a_manifest_with_limits_is_read_whole(write, tmp_path: Path) -> None:
    manifest = load_manifest(write(GOOD))
    assert manifest.sources == (CONTRACT, tmp_path / "a.sv")
    assert manifest.circuit.includes == (tmp_path / "inc",)
    assert manifest.circuit.defines == {"DEPTH": "4", "SYNTHESIS": ""}
    assert manifest.circuit.parameters == {"Slots": "4", "Kind": "8'h5"}
    assert manifest.circuit.accepted_warnings == {"LATCH"}
    assert manifest.capabilities.services == {Service.RC, Service.UC}
    assert manifest.capabilities.operations == {Operation.WRITE, Operation.WRITE_IMM}
    assert (manifest.capabilities.path_mtus, manifest.capabilities.qps) == ({PathMtu.MTU_1024}, 2)
    assert manifest.environment.resolves_addresses
    assert manifest.limits == Limits(
        length_multiple=4,
        shortest=4,
        longest=65536,
        outstanding_messages=4,
        outstanding_packets=16,
        outstanding_shared=True,
        quiet_cycles=20000,
        fixed={"solicited": 1, "hop_limit": 64},
        operations={
            Service.RC: frozenset({Op.WRITE, Op.WRITE_IMM}),
            Service.UC: frozenset({Op.WRITE}),
        },
    )


def test_what_is_not_said_is_not_limited(write) -> None:
    manifest = load_manifest(write(LEAST))
    assert manifest.capabilities.path_mtus == frozenset(PathMtu)
    assert manifest.limits == Limits(operations={Service.RC: frozenset({Op.WRITE})})
    assert not manifest.environment.resolves_addresses


def test_what_is_shared_must_be_limited(write) -> None:
    bad = GOOD.replace("outstanding_messages = 4\noutstanding_packets = 16\n", "")
    with pytest.raises(ManifestError, match="outstanding_shared: there is neither"):
        load_manifest(write(bad))


def test_limits_say_why_something_is_not_tried() -> None:
    rows = [row for row in LIMITS if not row.is_claim and row.kind is not Kind.RANGE]
    said = tomllib.loads("\n".join(f"{row.key} = {row.example}" for row in rows))
    said["per_queue_pair"] = frozenset({"rkey", "remote_addr"})
    limits = Limits(**said, shortest=4)
    lines = list(told(limits))
    assert len(lines) == len(rows) + 1
    assert "messages have 4 to 2147483648 bytes" in lines
    assert "on a queue pair all work has one remote_addr and one rkey" in lines
    assert list(told(Limits())) == []


COMMENTS = 43  # the column that they begin in


def test_documents_show_each_limit_as_the_table_has_it() -> None:
    for document in ("docs/dut-contract.md", "examples/skeleton/dut.toml"):
        lines = (REPOSITORY / document).read_text(encoding="utf-8").splitlines()
        for row in LIMITS:
            said = f"{row.key} = {row.example}"
            wanted = {f"{each.ljust(COMMENTS)}# {row.says}" for each in (said, f"# {said}")}
            assert wanted & {*lines}, f"{document} lacks: {said}, # {row.says}"


def test_the_reason_of_a_skip_names_one_limit() -> None:
    values = {"limit": "2", "asked": 3, "end": "most", "where": " in all"}
    for row in (row for row in LIMITS if row.beyond):
        reason = f"roceproof: mine: {why_beyond(row.key, **values)}"
        assert [each.key for each in LIMITS if each.is_reason(reason)] == [row.key]
