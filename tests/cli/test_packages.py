# SPDX-License-Identifier: BSD-2-Clause
"""A lack is told in one line that names the packages to install, and they are those of the list."""

from __future__ import annotations

from pathlib import Path

import pytest

from roceproof.common.packages import HEADERS, TOOLS, missing_header, missing_tools
from roceproof.common.paths import REPOSITORY
from roceproof.dpi.compile.verilate import Recipe, ToolError, verilate


def listed() -> set[str]:
    lines = (REPOSITORY / "ci" / "packages.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def test_nothing_is_said_of_tools_that_are_there() -> None:
    assert missing_tools(["sh", "make"]) is None


def test_every_missing_tool_is_named_once_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_tools(["verilator", "make", "g++"]) == (
        "verilator, make, g++ are not installed: apt-get install verilator make g++"
    )
    assert missing_tools(["rping", "rstream"]) == (
        "rping, rstream are not installed: apt-get install rdmacm-utils"
    )


@pytest.mark.parametrize(
    "words",
    [
        "x.c:3:10: fatal error: pcap/pcap.h: No such file or directory",
        "x.c:3:10: fatal error: 'pcap/pcap.h' file not found",
    ],
    ids=["gcc", "clang"],
)
def test_a_missing_header_is_told_as_its_package(words: str) -> None:
    assert missing_header(words) == "pcap/pcap.h is missing: apt-get install libpcap-dev"
    assert missing_header("x.c:3: fatal error: own.h: No such file or directory") is None
    assert missing_header("x.c:3: error: pcap/pcap.h is odd") is None


def test_a_simulation_without_its_compilers_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    recipe = Recipe(sources=(), parameters={"ClockPs": 1}, dut="dut")
    with pytest.raises(ToolError, match=r"apt-get install verilator make g\+\+ gcc$"):
        verilate(recipe, tmp_path)


def test_the_packages_are_those_that_the_project_installs() -> None:
    of_every_system = {"dpkg", "gcc", "gawk"}  # gcc comes with g++; any awk will do
    assert {*TOOLS.values(), *HEADERS.values()} - of_every_system <= listed()
