# SPDX-License-Identifier: BSD-2-Clause
"""What a theme of mutants may say, how its edits are put together, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from roceproof.conformance.mutants.edits import Declare, MutantError, Replacement, Statement
from roceproof.conformance.mutants.rtl import (
    DEVICES,
    load_mutants,
    mutants_in,
    reference_mutants,
)
from roceproof.conformance.mutants.schemata import declared, metamutant
from roceproof.dpi import PortOptions, Simulation, SimulationError, load_manifest

SOURCE = "assign a = b + c;\nalways_comb d = e;\n"
SELECTED = "roceproof_mutant_pkg::selected"

THEME = """
[mutant.ttl-wrong]
description = "The TTL is wrong."
expected = ["IP-06"]
file = "header_builder.sv"
line = "ipv4.ttl           = packet.path.hop_limit;"
expression = "packet.path.hop_limit"
becomes = "8'd1"
"""


def replacement(line: str, expression: str, becomes: str = "x") -> Replacement:
    return Replacement(file="a.sv", line=line, expression=expression, becomes=becomes)


def load(tmp_path: Path, text: str) -> None:
    (tmp_path / "theme.toml").write_text(text)
    reference_mutants(load_mutants(tmp_path), overlay=tmp_path / "overlay")


def test_a_replaced_expression_asks_who_is_selected() -> None:
    text = metamutant(SOURCE, [(3, "m", replacement("assign a = b + c;", "b + c", "b - c"))])
    assert text == SOURCE.replace("b + c", f"({SELECTED} == 3 ? (b - c) : (b + c))")


def test_two_faults_of_one_expression_are_chained() -> None:
    edits = [(n, f"m{n}", replacement("= e;", "e", f"e{n}")) for n in (1, 2)]
    assert f"({SELECTED} == 1 ? (e1) : {SELECTED} == 2 ? (e2) : (e))" in metamutant(SOURCE, edits)


def test_a_fault_inside_an_expression_that_another_replaces_is_composed() -> None:
    edits = [(1, "m1", replacement("b + c;", "b + c", "0")), (2, "m2", replacement("+ c;", "c"))]
    inner = f"b + ({SELECTED} == 2 ? (x) : (c))"
    assert f"({SELECTED} == 1 ? (0) : ({inner}))" in metamutant(SOURCE, edits)


def test_expressions_that_cross_are_refused_by_name() -> None:
    edits = [(1, "one", replacement("a = b + c", "b +")), (2, "two", replacement("b + c;", "+ c"))]
    with pytest.raises(MutantError, match=r"one and two: .*a\.sv overlap"):
        metamutant(SOURCE, edits)


def test_a_statement_inside_a_replaced_expression_is_refused() -> None:
    edits = [
        (1, "one", replacement("b + c;", "b + c")),
        (2, "two", Statement(file="a.sv", after="b +", statement="f = g;")),
    ]
    with pytest.raises(MutantError, match=r"one and two: .* overlap"):
        metamutant(SOURCE, edits)


def test_statements_are_guarded_and_follow_their_place() -> None:
    edit = Statement(file="a.sv", after="d = e;", statement="d = f;")
    text = metamutant(SOURCE, [(7, "m", edit)])
    assert text.split() == [
        *SOURCE.split(),
        *f"if ({SELECTED} == 7) begin d = f; end".split(),
    ]


def test_equal_declarations_are_made_once_and_may_hold_places() -> None:
    edit = Declare(file="a.sv", after="b + c;", declare="logic g;")
    text = declared(SOURCE, [("m1", edit), ("m2", edit)])
    assert text.count("logic g;") == 1
    assert "if (" in metamutant(
        text, [(1, "m1", Statement(file="a.sv", after="g;", statement="h;"))]
    )


def test_the_devices_assertions_hold_only_while_no_mutant_is_selected() -> None:
    text = metamutant("assert property (@(posedge clk_i) disable iff (!rst_ni) a |-> b);", [])
    assert f"disable iff (!rst_ni || {SELECTED} != 0)" in text


@pytest.mark.parametrize(("place", "count"), [("nowhere", 0), (" = ", 2)])
def test_a_place_that_is_not_unique_is_refused_with_file_and_mutant(place, count) -> None:
    edit = Statement(file="a.sv", after=place, statement="x;")
    with pytest.raises(MutantError, match=rf"late: a\.sv has {place!r} {count} times"):
        metamutant(SOURCE, [(1, "late", edit)])


REFUSALS = {
    "no TOML": ("[[mutant]", "not a theme"),
    "mutants without names": (THEME.replace("[mutant.ttl-wrong]", "[[mutant]]"), "no mutants"),
    "no mutants": ("", "no mutants"),
    "an unknown key": (THEME + 'text = "x"', "an edit with .*text"),
    "no description": (THEME.replace("description", "text"), "no description"),
    "an unknown rule": (THEME.replace("IP-06", "IP-99"), "expected names the unknown 'IP-99'"),
    "an unknown signature": (
        THEME + 'explained_as = ["S99"]',
        "explained_as names the unknown 'S99'",
    ),
    "no rule": (THEME.replace('"IP-06"', ""), "no rule is expected"),
    "an edit of no kind": (THEME.replace("becomes", "turns"), "an edit with .*turns"),
    "an empty edit": (THEME.replace("8'd1", " "), "becomes is ' '; expected text"),
    "a file that is no source": (THEME.replace("header_b", "b"), "builder.sv is no source of"),
    "a place that has gone": (THEME.replace("ipv4.ttl ", "ipv4.hops "), "0 times"),
    "two of one name": (THEME + THEME, "not a theme of mutants: .*ttl-wrong"),
    "a shared statement": (
        THEME + '[[shared]]\nfile = "a"\nafter = "b"\nstatement = "c"',
        "only declarations are shared",
    ),
    "no file": (THEME.replace("file", "#"), "an edit with .*expected one of: file"),
    "an unknown table": (THEME + '[other]\na = "b"', "unknown key 'other'"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_theme_is_refused_with_a_reason(name, tmp_path) -> None:
    text, reason = REFUSALS[name]
    with pytest.raises(MutantError, match=reason):
        load(tmp_path, text)


def test_a_mutant_is_expected_to_break_what_its_theme_says_unless_it_says_so_itself(
    tmp_path,
) -> None:
    other = THEME.replace("ttl-wrong", "ttl-other").replace('expected = ["IP-06"]\n', "")
    (tmp_path / "theme.toml").write_text('expected = ["IP-03", "IP-04"]\n' + THEME + other)
    expected = [mutant.expected for mutant in load_mutants(tmp_path).mutants]
    assert expected == [("IP-06",), ("IP-03", "IP-04")]


def test_two_themes_with_one_name_are_refused(tmp_path) -> None:
    (tmp_path / "another.toml").write_text(THEME)
    with pytest.raises(MutantError, match="two mutants are called 'ttl-wrong'"):
        load(tmp_path, THEME)


def test_a_sound_theme_is_woven_into_its_file_only(tmp_path) -> None:
    load(tmp_path, THEME)
    overlay = tmp_path / "overlay"
    changed = [path.name for path in overlay.iterdir() if "selected == 1" in path.read_text()]
    assert changed == ["header_builder.sv"]
    assert "1: ttl-wrong" in (overlay / "roceproof_mutant_pkg.sv").read_text()


def test_an_edit_without_a_file_is_of_its_mutants_and_that_of_its_themes(tmp_path) -> None:
    file = 'file = "header_builder.sv"\n'
    further = THEME.replace("[mutant.ttl-wrong]", "[[mutant.ttl-wrong.edit]]")
    further = further[: further.index("description")] + further[further.index("line =") :]
    place = 'after = "bth.psn       = packet.psn;"\n'
    shared = f"[[shared]]\n{place}" + 'declare = "// declared"\n'
    (tmp_path / "theme.toml").write_text(file + shared + THEME.replace(file, "") + further)
    loaded = load_mutants(tmp_path)
    assert {edit.file for edit in loaded.mutants[0].edits} == {"header_builder.sv"}
    assert [edit.file for _, edit in loaded.shared] == ["header_builder.sv"]
    own = THEME.replace("header_builder.sv", "frame_mux.sv")
    (tmp_path / "theme.toml").write_text(file + own + further)
    assert {edit.file for edit in load_mutants(tmp_path).mutants[0].edits} == {"frame_mux.sv"}


def test_a_further_replacement_has_what_it_does_not_say_of_its_mutant(tmp_path) -> None:
    edit = "[[mutant.ttl-wrong.edit]]\n"
    further = f"{edit}line = 'the rest'\n{edit}line = 'x'\nbecomes = 'y'\n"
    statement = f"{edit}after = 'z'\nstatement = 'w;'\n"
    (tmp_path / "theme.toml").write_text(THEME + further + statement)
    first, rest, other, last = load_mutants(tmp_path).mutants[0].edits
    assert rest == replace(first, line="the rest")
    assert other == replace(first, line="x", becomes="y")
    assert last == Statement(file=first.file, after="z", statement="w;")


def test_a_source_that_was_damaged_since_is_woven_anew(tmp_path) -> None:
    load(tmp_path, THEME)
    source = tmp_path / "overlay" / "header_builder.sv"
    whole = source.read_bytes()
    source.write_bytes(b"\xff" + whole[1:])
    load(tmp_path, THEME)
    assert source.read_bytes() == whole


@pytest.mark.sim
def test_a_number_that_no_mutant_has_ends_the_simulation() -> None:
    with pytest.raises(SimulationError, match="there is no mutant 9999"):
        Simulation.start(
            reference_mutants(),
            data_width=64,
            ports=[PortOptions()],
            plusargs=["roceproof_mutant=9999"],
        )


def test_the_faults_of_each_device_have_their_places_and_names_of_their_own() -> None:
    for folder, dut in DEVICES.items():
        assert mutants_in(folder).responder == load_manifest(dut).responder
    names = [mutant.id for folder in DEVICES for mutant in load_mutants(folder).mutants]
    assert len(names) == len(set(names))
