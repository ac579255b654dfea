# SPDX-License-Identifier: BSD-2-Clause
"""Manifests of schema 2: operations by service, limits, fixed values, and how it is built."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.dpi import ManifestError, Operation, PathMtu, Service, load_manifest
from roceproof.dpi.manifest.dut import CONTRACT
from roceproof.dpi.manifest.responder import StaticRegion
from roceproof.verbs.limit_table import LIMITS, LONGEST_MESSAGE, why_beyond
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
    limits = Limits(
        length_multiple=4,
        shortest=4,
        longest=64,
        outstanding_messages=2,
        outstanding_packets=8,
        operations={Service.UC: frozenset({Op.WRITE})},
    )
    assert limits.against_length(8) is None
    for length in (0, 5, 68):
        assert str(length) in (limits.against_length(length) or "")
    assert limits.against_operation(Service.UC, Op.WRITE) is None
    assert limits.against_operation(Service.UC, Op.SEND) == "it has no SEND on UC"
    assert limits.against_operation(Service.RC, Op.WRITE) == "it has no WRITE on RC"
    assert limits.against_depth(2, 8) is None
    assert limits.against_depth(3, 8) == "it has at most 2 messages outstanding, not 3"
    assert limits.against_depth(2, 9) == "it has at most 8 packets outstanding, not 9"
    shared = replace(limits, outstanding_shared=True)
    assert shared.against_depth(3, 8) == "it has at most 2 messages outstanding in all, not 3"
    assert Limits().against_length(LONGEST_MESSAGE + 1) is None
    assert Limits().against_operation(Service.UD, Op.SEND) is None
    assert Limits().against_depth(10**6, 10**6) is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("length_multiple", "length_multipl", "limits.length_multipl: unknown key; is length_mult"),
        ("multiple = 4", "multiple = 12", "limits.length_multiple: 12 is none of 1, 2, 4, 8"),
        ("hop_limit = 64", "hop_limit = 256", "fixed.hop_limit: 256 is out of range"),
        ("hop_limit = 64", "ttl = 64", "fixed.ttl: unknown key"),
        ("solicited = true", "solicited = 1", "fixed.solicited: expected bool, got 1"),
        ("[4, 65536]", "[8, 4]", "limits.length: expected [shortest, longest]"),
        ("[4, 65536]", "[4]", "limits.length: expected [shortest, longest]"),
        ("[4, 65536]", "65536", "limits.length: expected list"),
        ('RC = ["WRITE"', 'RC = ["LIST"', "capabilities.RC: 'LIST' is none of"),
        ('UC = ["WRITE"]', 'services = ["UC"]', "capabilities.services: unknown key"),
        ('"LATCH"', '"WIDTH"', "warnings: 'WIDTH' is none of COMBDLY, LATCH"),
        ('["inc"]', '["gone"]', "includes: "),
        ('["*.sv"]', '["*.vhd"]', "sources: '*.vhd' fits no file"),
        ("Slots = 4", "Slots = 4.5", "parameters.Slots: expected int, got 4.5"),
        ("DEPTH = 4", 'DEPTH = "a\\nb"', "defines.DEPTH: 'a\\nb' will not do"),
        ("DEPTH = 4", 'ROCEPROOF_DUT = "x"', "defines.ROCEPROOF_DUT: is reserved"),
        ("DEPTH = 4", "ROCEPROOF_BACKDOOR = 1", "is reserved; give it another name"),
        ("DEPTH = 4", "ifdef = 1", "defines.ifdef: is reserved"),
        ("Slots = 4", "DataWidth = 4", "parameters.DataWidth: is what the bench gives"),
        ("Slots = 4", "Slots = ')'", "parameters.Slots: ')' will not do"),
        ("Slots = 4", "Slots = '1), .ClockPs(2'", "expected one expression"),
        ("Slots = 4", "Slots = '1; //'", "expected one expression"),
        ("Slots = 4", "Slots = '{1, 2'", "expected one expression"),
        ("Slots = 4", "Slots = '1, 2'", "expected one expression"),
        ("Slots = 4", "Slots = 'a\"b'", "expected one expression"),
        ("Slots = 4", "Slots = ' '", "expected one expression"),
        ("DEPTH = 4", '"a b" = 4', "defines.a b: is no identifier"),
        ("resolves_addresses", "resolves_address", "is resolves_addresses meant?"),
        ("[parameters]", "[parameter]", "parameter: unknown key; is parameters meant?"),
    ],
)
def test_what_is_wrong_is_named(write, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(ManifestError) as caught:
        load_manifest(write(GOOD.replace(old, new)))
    assert words in str(caught.value)


def test_what_is_waived_beyond_limits_is_a_limit_until_the_last_day(write) -> None:
    def limits(expires: str, text: str = "length_multiple = 4, path_mtus = [1024]") -> Limits:
        return load_manifest(write(LEAST + WAIVED.format(limits=text, expires=expires))).limits

    assert limits("2999-12-31").length_multiple == 4
    assert limits("2020-01-01") == limits("2020-01-01", "qps = 2")
    assert limits("2020-01-01").length_multiple == 1
    with pytest.raises(ManifestError, match=r"limits\.length_multiple: 3 is none of 1, 2"):
        limits("2999-12-31", "length_multiple = 3")


def test_a_waiver_of_a_limit_goes_before_the_limit(write) -> None:
    text = GOOD + WAIVED.format(limits="length_multiple = 8", expires="2999-12-31")
    assert load_manifest(write(text)).limits.length_multiple == 8


def test_a_responder_may_send_nothing_and_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "dut.toml"
    (tmp_path / "a.sv").touch()
    silent = re.sub(r"(?m)^(RC|UC) = .*\n", "", LEAST)
    path.write_text(silent + RESPONDER)
    assert load_manifest(path).capabilities.operations == frozenset()
    path.write_text(silent)
    with pytest.raises(ManifestError, match=r"capabilities.RC: missing; list the operations"):
        load_manifest(path)


def test_a_responder_is_claimed_with_what_it_executes_and_holds(tmp_path: Path) -> None:
    path = tmp_path / "dut.toml"
    (tmp_path / "a.sv").touch()
    path.write_text(LEAST)
    assert load_manifest(path).responder is None
    path.write_text(LEAST + RESPONDER)
    responder = load_manifest(path).responder
    assert responder is not None
    assert responder.operations == {
        Service.RC: {Op.WRITE, Op.SEND},
        Service.UC: {Op.WRITE},
    }
    assert (responder.regions, responder.receives, responder.states) == (4, 16, True)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ('RC = ["READS"]', "responder.RC: 'READS' is none of SEND"),
        ("regions = 0", "responder.regions: 0 is out of range; expected 1 to 65536"),
        ("region = 4", "responder.region: unknown key; is regions meant"),
        ('backdoor = "u_core[0]"', "responder.backdoor: 'u_core.0.' is no array below the wrapper"),
        ('backdoor = "u_core.ram"', "responder.backdoor: memory of its own has keys of its own"),
        (
            REGION.format(more="") + REGION.format(more="va = 8"),
            "region.rkey: 0x1 names two regions; give each its own",
        ),
        (REGION.format(more="base = 0x7fffffff"), "region.length: the region ends beyond 2.31"),
        ("[[region]]\nrkey = 1\nlength = 4\naccess = ['all']", "region.access: 'all' is none of"),
        ("[[region]]\nrkey = 1\nlength = 0\naccess = []", "region.access: expected a list"),
    ],
)
def test_a_wrong_claim_of_a_responder_is_told(tmp_path: Path, wrong: str, words: str) -> None:
    path = tmp_path / "dut.toml"
    (tmp_path / "a.sv").touch()
    path.write_text(f"{LEAST}[responder]\n{wrong}\n")
    with pytest.raises(ManifestError, match=words):
        load_manifest(path)


def test_who_makes_connections_is_a_responder(tmp_path: Path) -> None:
    path = tmp_path / "dut.toml"
    (tmp_path / "a.sv").touch()
    path.write_text(f"{LEAST}[cm]\nservice_id = 1\n")
    with pytest.raises(ManifestError, match=r"cm: says what a responder has: add a table"):
        load_manifest(path)


def test_a_region_may_end_where_memory_does(tmp_path: Path) -> None:
    path = tmp_path / "dut.toml"
    (tmp_path / "a.sv").touch()
    region = REGION.format(more="base = 0x7ffffffc")
    path.write_text(f"{LEAST}[responder]\n{region}")
    responder = load_manifest(path).responder
    assert responder is not None
    assert responder.static_regions[0].base == 0x7FFFFFFC


def test_memory_whose_keys_are_built_in_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "dut.toml"
    (tmp_path / "a.sv").touch()
    region = '[[region]]\nrkey = 0x1234\nlength = 4096\naccess = ["remote_write"]\n'
    door = 'backdoor = "u_core.u_ram.bytes"\n'
    path.write_text(f"{LEAST}[responder]\nRC = ['WRITE']\n{door}{region}")
    responder = load_manifest(path).responder
    assert responder is not None
    assert responder.backdoor == "u_core.u_ram.bytes"
    assert responder.static_regions == (
        StaticRegion(rkey=0x1234, length=4096, access=frozenset({"remote_write"})),
    )
    path.write_text(LEAST + region)
    with pytest.raises(ManifestError, match=r"region: says what a responder has"):
        load_manifest(path)


def test_every_limit_is_told_in_a_report() -> None:
    limits = Limits(
        length_multiple=4,
        shortest=4,
        outstanding_messages=2,
        outstanding_packets=3,
        outstanding_shared=True,
        answer_cycles=5,
        quiet_cycles=6,
        progress_cycles=7,
        flushes=False,
        identification="any",
        per_queue_pair=frozenset({"rkey", "remote_addr"}),
    )
    lines = list(told(limits))
    assert len(lines) == sum(not row.is_claim for row in LIMITS)
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
