# SPDX-License-Identifier: BSD-2-Clause
"""A build's log is told by its errors: each once, with its place, and not more than a screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from roceproof.dpi.compile.errors import (
    MOST_LINES,
    build_errors,
    lacking_ports,
    misfit,
    other_widths,
)

LOG = """\
verilator --cc --exe a.sv
%Warning-WIDTH: a.sv:1:2: Operator ASSIGN expects 8 bits
    1 |   assign a = b;
      |          ^
%Error: a.sv:3:5: syntax error, unexpected IDENTIFIER
    3 |   this is
      |     ^~
        ... See the manual at https://verilator.org
%Error: a.sv:3:5: syntax error, unexpected IDENTIFIER
    3 |   this is
%Error: Exiting due to 2 error(s)
make: *** [Vroceproof.mk:12: a.o] Error 1
"""


def test_an_error_is_shown_once_with_its_source_line() -> None:
    assert build_errors(LOG) == [
        "%Error: a.sv:3:5: syntax error, unexpected IDENTIFIER",
        "    3 |   this is",
    ]


def test_more_errors_than_a_screen_holds_are_counted() -> None:
    log = "\n".join(f"a.cpp:{line}:1: error: no" for line in range(100))
    shown = build_errors(log)
    assert shown[:MOST_LINES] == [f"a.cpp:{line}:1: error: no" for line in range(MOST_LINES)]
    assert shown[MOST_LINES:] == ["... and 80 more lines"]


def test_without_a_known_error_the_last_words_count() -> None:
    assert build_errors("one\n\ntwo\n") == ["one", "two"]


def test_the_linker_and_a_killed_compiler_are_heard() -> None:
    linker = "a.o: undefined reference to `f'"
    killed = "g++: fatal error: Killed signal terminated program cc1plus"
    assert build_errors(f"make\n{linker}\nmore\n{killed}\nend\n") == [linker, killed]


def test_what_a_terminal_would_obey_is_shown_as_text() -> None:
    assert build_errors("x.sv: error: \x1b[2J" + "y" * 1000)[0].startswith("x.sv: error: ?[2Jyy")
    assert len(build_errors("error: " + "y" * 1000)[0]) < 400


def test_what_a_manifest_says_is_told_apart_from_the_devices_own_errors() -> None:
    said = "Parameter pin not found: 'DEPTH'"
    theirs = "%Error: rtl/a.sv:1:1: no\n    1 | .DEPTH(4)\n"
    log = f"{theirs}%Error-PIN: sv/p.sv:7:2: {said}\n  : ... note\n    7 | , .DEPTH(4)\n"
    pasted = {"top": ["mine #("], "parameters.DEPTH": [".DEPTH(4)"]}
    assert misfit(log, pasted, where=Path("sv")) == f"parameters.DEPTH: {said}"
    assert misfit(log, {"top": ["mine #("]}, where=Path("sv")) is None
    assert misfit(LOG, pasted, where=Path("sv")) is None


def test_a_module_that_is_missing_is_told_before_what_lies_in_it() -> None:
    said = "Dotted reference to missing module/interface: 'mine'"
    log = f"%Error: sv/p.sv:9:2: {said}\n    9 | x = u_dut.memory[0];\n"
    pasted = {"top": ["mine #(", "module/interface: 'mine'"], "responder.backdoor": ["u_dut.me"]}
    assert misfit(log, pasted, where=Path("sv")) == f"top: {said}"


def test_the_ports_that_a_device_lacks_are_those_that_sources_of_ours_connect() -> None:
    ours = "%Error-PINNOTFOUND: sv/p.sv:7:2: Pin not found: 'rx_tuser_i'\n    7 | .rx_tuser_i(a)\n"
    theirs = "%Error-PINNOTFOUND: rtl/a.sv:1:1: Pin not found: 'b'\n    1 | .b(c)\n"
    assert lacking_ports(ours + theirs + ours, where=Path("sv")) == ["rx_tuser_i"]
    assert lacking_ports(theirs, where=Path("sv")) == []


@pytest.mark.parametrize("kind", ["WIDTH", "WIDTHTRUNC"])
def test_a_port_of_another_width_is_told_with_both(kind: str) -> None:
    said = "Input port connection 'a_i' expects 16 bits on the pin connection, but pin"
    told = f"p.sv:1:2: {said} connection's VARREF 'a' generates 32 bits."
    log = f"%Warning-{kind}: rtl/{told}\n%Warning-{kind}: sv/{told}\n"
    assert other_widths(log, where=Path("sv")) == ["a_i has 16 bits and not 32"]
