# SPDX-License-Identifier: BSD-2-Clause
"""The table of coverpoints, the bins that a device has, and the adding up of hits."""

from __future__ import annotations

from pathlib import Path
from tomllib import TOMLDecodeError

import pytest

from roceproof.conformance.coverage.counts import Bin, Counts
from roceproof.conformance.coverage.ranges import RangeError, Ranges
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.coverage.table import Exemption, TableError, load_table
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims

SMALL = """
[dimension.service]
bins = { RC = "RC", UC = "UC" }
[dimension.depth]
ranges = ["1", "2..3", "4.."]
[dimension.width]
each = "width"
[dimension.path_mtu]
each = "path_mtu"
[dimension.bit_value]
bins = { 0 = "", 1 = "" }
[point.depth]
group = "a"
says = "so deep"
cross = ["service", "depth"]
impossible = [{ bins = "UC/4..", why = "never" }]
open = [{ bins = "*/2..3", why = "not yet" }]
[point.mtu]
group = "b"
says = "each path MTU at each width"
cross = ["width", "path_mtu"]
needs = "LOCKSTEP"
[point.bits]
group = "b"
says = "bits"
fields = [["psn", "0..1"], ["key", "5", "UC"]]
"""


def claims(*capabilities: Capability, width: int | None = 64) -> Claims:
    return Claims(
        target="hdl",
        device="it",
        capabilities=frozenset(capabilities),
        path_mtus=(256, 512),
        data_width=width,
    )


@pytest.fixture
def table(tmp_path: Path):
    path = tmp_path / "table.toml"
    path.write_text(SMALL)
    return load_table(path)


def test_bins_are_those_that_the_device_claims(table) -> None:
    rc = claims(Capability.RC)
    assert [bin.name for bin in Counts().empty(rc, table=table) if bin.point == "depth"] == [
        "RC/1",
        "RC/2..3",
        "RC/4..",
    ]
    both = claims(Capability.RC, Capability.UC, Capability.LOCKSTEP)
    names = {str(bin) for bin in Counts().empty(both, table=table)}
    assert "depth UC/2..3" in names
    assert "depth UC/4.." not in names  # impossible
    assert {"mtu 64/256", "mtu 64/512", "bits key.5/1", "bits psn.0/0"} <= names


def test_a_device_at_two_widths_has_bins_at_both(table) -> None:
    wide = [claims(Capability.LOCKSTEP, width=width) for width in (64, 512)]
    found = [bin.name for bin in Counts().empty(*wide, table=table) if bin.point == "mtu"]
    assert found == ["64/256", "64/512", "512/256", "512/512"]


def test_a_device_without_a_clock_has_one_width(table) -> None:
    found = Counts().empty(claims(Capability.LOCKSTEP, width=None), table=table)
    assert [bin.name for bin in found if bin.point == "mtu"] == ["-/256", "-/512"]


def test_hits_fill_bins_and_merge(table) -> None:
    rc, first, second = claims(Capability.RC), Counts(), Counts()
    first.add("depth", "RC/1", 2)
    second.add("depth", "RC/1")
    second.add("depth", "RC/4..")
    second.add("depth", "nobody knows it")
    first.merge(second)
    assert first.hits("depth")["RC/1"] == 3
    left = [bin for bin in first.empty(rc, table=table) if bin.point == "depth"]
    assert left == [Bin("depth", "RC/2..3")]
    assert second.hits("depth")["RC/1"] == 1


def test_an_open_bin_says_why(table) -> None:
    point = table.points["depth"]
    assert point.why_open("RC/2..3") == "not yet"
    assert point.why_open("RC/1") == ""


@pytest.mark.parametrize(
    ("pattern", "covered", "others"),
    [
        ("RC/*", ["RC/1", "RC/n*mtu"], ["UC/1", "XRC/1"]),
        ("{RC, UC}/{1, 2..3}", ["RC/1", "UC/2..3"], ["RC/2", "UD/1", "RC/1/1"]),
        ("*/n[*]mtu", ["RC/n*mtu"], ["RC/nXmtu"]),
        ("a.b/{0, 1*}", ["a.b/0", "a.b/17"], ["aXb/0", "a.b/2"]),
    ],
)
def test_an_exemption_is_a_pattern(pattern: str, covered: list[str], others: list[str]) -> None:
    exemption = Exemption(pattern, "why")
    assert all(map(exemption.covers, covered))
    assert not any(map(exemption.covers, others))


def test_counts_survive_json() -> None:
    counts = Counts()
    counts.add("depth", "RC/1", 7)
    assert Counts.from_json(counts.to_json()).hits("depth") == {"RC/1": 7}


def test_classes_find_their_numbers() -> None:
    ranges = Ranges(["0", "1..3", "8.."])
    assert [ranges.of(value) for value in (0, 1, 3, 4, 8, 1 << 40)] == [
        *("0", "1..3", "1..3"),
        *("", "8..", "8.."),
    ]
    for labels in (["x"], ["3..1"], ["1..", "5"], ["1", "1"]):
        with pytest.raises(RangeError):
            Ranges(labels)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ('[point.x]\ngroup = "a"\nsays = ""\ncross = ["y"]', "point x: .* no dimension 'y'"),
        ('[point.x]\ngroup = "a"\nsays = ""\nwhat = 1', "point x: 'what' is none of"),
        ("[dimension.z]\nlist = []", "dimension z: expected one of"),
    ],
)
def test_a_wrong_table_names_its_entry(tmp_path: Path, wrong: str, told: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(f"{SMALL}\n{wrong}\n")
    with pytest.raises(TableError, match=told):
        load_table(path)


def test_a_point_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(f"{SMALL}\n[point.depth]\n")
    with pytest.raises(TOMLDecodeError, match="depth"):
        load_table(path)


def test_the_table_knows_all_its_needs_and_its_exemptions_cover_something() -> None:
    everything = Scope(
        capabilities=frozenset(Capability),
        path_mtus=(256, 512, 1024, 2048, 4096),
        qps=16,
        widths=(64, 128, 256, 512, 1024),
    )
    for point in load_table().points.values():
        assert point.says
        names = point.bins(everything)
        assert names, point.id
        assert len(names) == len(set(names))
        for exemption in point.open:
            assert any(exemption.covers(name) for name in names), (point.id, exemption)
        assert all(exemption.why for exemption in (*point.open, *point.impossible))
