# SPDX-License-Identifier: BSD-2-Clause
"""Triggers: what a theme says about them, how they are derived and watched, what is refused."""

from __future__ import annotations

import pytest

from roceproof.conformance.mutants.edits import MutantError, Replacement, Statement, Trigger
from roceproof.conformance.mutants.rtl import load_mutants, reference_mutants, triggers_of
from roceproof.conformance.mutants.triggers import derived, monitored

MODULE = """
module a (input clk_i);
  assign b = c + d;
  for (genvar n = 0; n < 4; n++) begin
    assign e[n] = f[n];
  end
  function automatic logic g(logic h);
    return !h;
  endfunction
  always_ff @(posedge clk_i) k <= l;
endmodule
"""
THEME = """
kind = "rare value"
[mutant.ttl-1]
description = "The TTL is 1."
expected = ["IP-06"]
file = "header_builder.sv"
line = "ipv4.ttl           = packet.path.hop_limit;"
expression = "packet.path.hop_limit"
becomes = "8'd1"
when = "packet_valid_i && packet_i.path.hop_limit != 8'd1"
"""


def replacement(line: str, expression: str) -> Replacement:
    return Replacement(file="a.sv", line=line, expression=expression, becomes="x")


@pytest.mark.parametrize(
    ("line", "expression"), [("b = c + d;", "c + d"), ("k <= l;", "l"), ("gone;", "gone")]
)
def test_a_replaced_expression_triggers_when_its_values_differ(line, expression) -> None:
    edit = replacement(line, expression)
    wanted = Trigger(file="a.sv", when=f"({expression}) !== (x)")
    assert derived([edit], {"a.sv": MODULE}) == (wanted,)


@pytest.mark.parametrize(("line", "expression"), [("return !h;", "!h"), ("= f[n];", "f[n]")])
def test_what_is_read_inside_functions_and_loops_has_no_trigger(line, expression) -> None:
    assert derived([replacement(line, expression)], {"a.sv": MODULE}) == ()


def test_a_mutant_that_adds_statements_has_no_trigger() -> None:
    edits = [
        replacement("b = c + d;", "c + d"),
        Statement(file="a.sv", after="k <= l;", statement="k <= b;"),
    ]
    assert derived(edits, {"a.sv": MODULE}) == ()


def test_a_monitor_counts_at_the_clock_behind_everything_else() -> None:
    text = monitored(MODULE, [(7, "seven", Trigger(file="a.sv", when="b && k"))])
    head, _, tail = text.partition("k <= l;")
    assert head + "k <= l;" == MODULE.partition("\nendmodule")[0]
    assert "always @(posedge clk_i)" in tail
    assert "if (b && k) roceproof_mutant_pkg::reached[7]++;" in tail


def test_a_monitor_needs_a_clock() -> None:
    trigger = Trigger(file="a.sv", when="b")
    with pytest.raises(MutantError, match=r"late: a\.sv is no module with clk_i"):
        monitored(MODULE.replace("clk_i", "tick"), [(1, "late", trigger)])


def test_a_theme_with_a_kind_gives_each_mutant_its_trigger(tmp_path) -> None:
    (tmp_path / "theme.toml").write_text(THEME)
    faults = load_mutants(tmp_path)
    assert [mutant.kind for mutant in faults.mutants] == ["rare value"]
    (trigger,) = triggers_of(faults)["ttl-1"]
    assert trigger.when.endswith("!= 8'd1")
    reference_mutants(faults, overlay=tmp_path / "overlay")
    woven = (tmp_path / "overlay" / "header_builder.sv").read_text()
    assert f"if ({trigger.when}) roceproof_mutant_pkg::reached[1]++;" in woven


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (THEME.replace('kind = "rare value"', ""), "when is of themes with a kind"),
        (THEME.partition("when =")[0], "no when"),
        (THEME.replace("when =", "if ="), "no when"),
        (THEME.partition("when =")[0] + "when = 1", "when is 1; expected text"),
        (THEME + 'when_file = "b.sv"', "no source of"),
        (THEME + 'more = "x"', "an edit with .*more"),
    ],
)
def test_a_trigger_is_refused_with_a_reason(text, reason, tmp_path) -> None:
    (tmp_path / "theme.toml").write_text(text)
    with pytest.raises(MutantError, match=reason):
        reference_mutants(load_mutants(tmp_path), overlay=tmp_path / "overlay")
