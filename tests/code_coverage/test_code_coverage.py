# SPDX-License-Identifier: BSD-2-Clause
"""What Verilator writes is added up, judged against bars and exclusions, and told in few words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.code_coverage.exclusions import (
    Exclusion,
    ExclusionError,
    load_exclusions,
)
from roceproof.conformance.code_coverage.points import DataError, Point, Sum, read_points
from roceproof.conformance.code_coverage.report import WidthReport, judge, spans

TOP = ".roceproof_top.gen_port[0].u_port.u_dut"


def row(page: str, name: str, times: int, *, line: int = 7, inner: str = "") -> str:
    values = {"f": "/x/dut.sv", "l": line, "page": page, "o": name, "h": TOP + inner}
    return "C '" + "".join(f"\x01{k}\x02{v}" for k, v in values.items()) + f"' {times}"


def write(path: Path, *rows: str) -> Path:
    path.write_text("# SystemC::Coverage-3\n" + "".join(f"{each}\n" for each in rows))
    return path


def bit(name: str, *, module: str = "dut", instance: str = TOP) -> Point:
    return Point("toggle", "dut.sv", 7, module, instance, name)


def test_files_add_up_and_keep_what_they_mean(tmp_path: Path) -> None:
    rows = [("v_toggle/dut__D40", "tx_o[3]"), ("v_line/dut", "block"), ("v_branch/dut", "if")]
    total = Sum()
    for index in (1, 2):
        texts = (row(page, name, index * at) for at, (page, name) in enumerate(rows))
        total.add(write(tmp_path / f"{index}.dat", *texts))
    total.write(tmp_path / "sum.dat")
    found = list(read_points(tmp_path / "sum.dat"))
    assert [times for _, times in found] == [0, 3, 6]
    first = found[0][0]
    assert first == Point("toggle", "/x/dut.sv", 7, "dut", TOP, "tx_o[3]")
    assert (first.signal, first.bit) == ("tx_o", 3)
    assert [point.kind for point, _ in found] == ["toggle", "line", "branch"]


def test_files_of_two_builds_do_not_add_up(tmp_path: Path) -> None:
    total = Sum()
    total.add(write(tmp_path / "a.dat", row("v_line/dut", "block", 1)))
    with pytest.raises(DataError, match="has 2 points, others 1"):
        total.add(write(tmp_path / "b.dat", *[row("v_line/dut", "block", 1)] * 2))


def test_what_is_no_coverage_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no point of Verilator"):
        list(read_points(write(tmp_path / "a.dat", "nonsense")))


def judged(*exclusions: Exclusion) -> tuple[WidthReport, Counter[Exclusion]]:
    points = [(bit(f"tx_o[{index}]"), index % 2) for index in range(4)]
    points += [(bit("qpc_i.sq_psn[23]"), 1), (bit("sent.wr_id[63]"), 1)]
    points += [(bit(f"state_q[{index}]", instance=f"{TOP}.u_in"), 1) for index in range(94)]
    used: Counter[Exclusion] = Counter()
    return judge(64, points, exclusions, used), used


def test_a_port_that_stands_still_misses_the_bar() -> None:
    report, _ = judged()
    assert (report.ports.points, report.ports.hit) == (5, 3)
    assert report.kinds["toggle"].percent == 98.0
    assert [str(each) for each in report.lacks()] == [
        "64 bit: 2 bits of contract ports never toggle: tx_o[0], tx_o[2]"
    ]


def test_few_toggles_miss_the_bar() -> None:
    report = judge(512, [(bit("state_q", instance=f"{TOP}.u"), 0)], [], Counter())
    assert report.lacks() == ["512 bit: 0.0 % of the toggles, bar 95 %"]


def test_an_exclusion_counts_only_for_what_is_not_exercised() -> None:
    needed = Exclusion("toggle", "dut", "tx_o[0]", "why")
    wide = Exclusion("toggle", "*", "tx_o[2]", "why", (512,))
    idle = Exclusion("toggle", "dut", "tx_o[1]", "why")
    report, used = judged(needed, wide, idle)
    assert used == {needed: 1}
    assert (report.kinds["toggle"].points, report.kinds["toggle"].excluded) == (99, 1)
    assert [point.name for point in report.ports.missed] == ["tx_o[2]"]


def test_an_exclusion_names_several_and_spans_of_bits() -> None:
    several = Exclusion("toggle", "dut", "other[*], *x_o[3:1]", "why")
    covered = [name for name in range(5) if several.covers(bit(f"tx_o[{name}]"), 64)]
    assert covered == [1, 2, 3]
    assert several.covers(bit("other[70]"), 64)
    assert not several.covers(bit("tx_i[2]"), 64)


def test_bits_in_a_row_are_a_span() -> None:
    names = [*(f"a[{index}]" for index in (0, 1, 2, 9)), "b"]
    assert spans(map(bit, names)) == ["a[2:0]", "a[9]", "b"]
    assert spans([Point("line", "x.sv", line, "m", TOP, "") for line in (12, 3)]) == ["3", "12"]


@pytest.mark.parametrize(
    "entry", ['kind = "bit"\nmodule = ""\nname = ""\nwhy = "x"', 'kind = "line"\nwhy = "x"']
)
def test_a_wrong_exclusion_is_named(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "coverage.toml"
    path.write_text(f"[[exclude]]\n{entry}\n")
    with pytest.raises(ExclusionError, match=r"coverage\.toml"):
        load_exclusions(path)


def test_an_exclusion_that_says_no_module_is_of_any(tmp_path: Path) -> None:
    path = tmp_path / "coverage.toml"
    path.write_text('[[exclude]]\nkind = "toggle"\nname = "a"\nwhy = "x"\n')
    assert load_exclusions(path) == [Exclusion("toggle", "*", "a", "x")]


def test_every_exclusion_has_a_reason() -> None:
    assert all(each.why for each in load_exclusions(REFERENCE_DUT.with_name("coverage.toml")))
