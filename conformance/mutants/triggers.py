# SPDX-License-Identifier: BSD-2-Clause
"""Trigger monitors: in the device with no fault chosen, how often each fault would have mattered.

A simulation with `+roceproof_reached=FILE` counts, at the clock, when the trigger of each mutant
holds, and writes a line `NUMBER TIMES` for each that ever did. A mutant without a trigger of its
own has one if it only replaces expressions that can be read outside of functions and loops: that
old and new value differ. Such a value may be one that nobody uses at that moment.
"""

import re
from collections.abc import Iterable, Sequence

from roceproof.conformance.mutants.edits import (
    Declare,
    Edit,
    MutantError,
    Replacement,
    Statement,
    Trigger,
)
from roceproof.conformance.mutants.schemata import PACKAGE

PLUSARG = "roceproof_reached"
_END = "\nendmodule"
_LOOP = re.compile(r"\bfor \((?:int unsigned|int|genvar) (\w+)")
_FUNCTION = re.compile(r"\b(function|endfunction)\b")


def derived(edits: Iterable[Edit], texts: dict[str, str]) -> tuple[Trigger, ...]:
    """When expressions and what they become differ; nothing where that cannot be read.

    `texts` are the sources, with declarations, by name.
    """
    triggers = []
    for edit in edits:
        if isinstance(edit, Statement):
            return ()
        if isinstance(edit, Declare):
            continue
        if not _is_readable(edit, texts[edit.file]):
            return ()
        triggers.append(Trigger(file=edit.file, when=f"({edit.expression}) !== ({edit.becomes})"))
    return tuple(triggers)


def monitored(text: str, triggers: Sequence[tuple[int, str, Trigger]]) -> str:
    """The source with monitors of triggers, each given with its mutant's number and id."""
    if not triggers:
        return text
    if text.count(_END) != 1 or not _is_clocked(text):
        _, owner, trigger = triggers[0]
        raise MutantError(f"{owner}: {trigger.file} is no module with clk_i; its trigger has none")
    lines = "\n".join(
        f"      if ({trigger.when}) {PACKAGE}::reached[{number}]++;"
        for number, _, trigger in triggers
    )
    at = text.index(_END)
    monitor = f"""
  // When the faults of this file would matter.
  always @(posedge clk_i) begin
    if ({PACKAGE}::watching) begin
{lines}
    end
  end
"""
    return text[:at] + monitor + text[at:]


def reporting(text: str) -> str:
    """The top module, which writes what was reached when the simulation ends."""
    at = text.index(_END)
    return f"{text[:at]}\n  final {PACKAGE}::report();\n{text[at:]}"


def package_body(mutants: int) -> str:
    """What the package holds for the monitors of so many mutants."""
    return f"""\
  bit watching = $test$plusargs("{PLUSARG}=") != 0;
  int unsigned reached[{mutants + 1}];

  function automatic void report();
    string path;
    int file;
    if (!$value$plusargs("{PLUSARG}=%s", path)) return;
    file = $fopen(path, "w");
    for (int unsigned i = 1; i <= {mutants}; i++) begin
      if (reached[i] != 0) $fdisplay(file, "%0d %0d", i, reached[i]);
    end
    $fclose(file);
  endfunction
"""


def _is_clocked(text: str) -> bool:
    return re.search(r"\bclk_i\b", text) is not None


def _is_readable(edit: Replacement, text: str) -> bool:
    """Whether both values mean something behind everything else in the module."""
    at = text.find(edit.line)  # whoever weaves it in says so if there is no such place
    places = [found[1] for found in _FUNCTION.finditer(text, 0, max(0, at))]
    inside = places.count("function") > places.count("endfunction")
    words = set(re.findall(r"\w+", f"{edit.expression} {edit.becomes}"))
    loops = set(_LOOP.findall(text))
    return _is_clocked(text) and not inside and words.isdisjoint(loops)
