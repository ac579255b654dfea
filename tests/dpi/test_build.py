# SPDX-License-Identifier: BSD-2-Clause
"""Simulations are built once per distinct input, and a failure shows the tool's words."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from roceproof.dpi import BuildError, Manifest, build_simulation
from roceproof.dpi.compile import cache
from roceproof.dpi.compile.cache import BRIDGE_SV
from roceproof.dpi.compile.verilate import EXECUTABLE, ROOM, Recipe
from roceproof.dpi.manifest.circuit import Circuit

pytestmark = pytest.mark.sim


@pytest.mark.slow
def test_build_is_reused_until_an_input_changes(echo_manifest, tmp_path):
    source = echo_manifest.sources[-1]
    copy = tmp_path / source.name
    copy.write_text(source.read_text())
    manifest = replace(echo_manifest, sources=(*echo_manifest.sources[:-1], copy))
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(
            lambda _: build_simulation(manifest, data_width=64, ports=1, build_root=tmp_path),
            range(2),
        )
    assert first == second
    assert (tmp_path / first.directory / "build.log").read_text().count("verilator --cc") == 1
    copy.write_text(source.read_text() + "// changed\n")
    changed = build_simulation(manifest, data_width=64, ports=1, build_root=tmp_path)
    assert changed.directory != first.directory


def test_source_that_does_not_compile_is_shown(echo_manifest, tmp_path):
    broken = tmp_path / "broken.sv"
    broken.write_text("module echo_dut; this is not SystemVerilog\n")
    manifest = replace(echo_manifest, sources=(broken,))
    with pytest.raises(BuildError, match=r"verilator ended.*build\.log(.|\n)*broken\.sv:1"):
        build_simulation(manifest, data_width=64, ports=1, build_root=tmp_path)


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("ports", [1, 2, 4])
@pytest.mark.parametrize("data_width", [64, 1024])
def test_bridge_is_clean_under_lint(echo_manifest, ports, data_width):
    done = subprocess.run(
        [
            *("verilator", "--lint-only", "-Wall", "--assert", "--timescale", "1ps/1ps"),
            *("--top-module", "roceproof_top", f"-GPorts={ports}", f"-GDataWidth={data_width}"),
            f"-DROCEPROOF_DUT={echo_manifest.top}",
            *(ROOM / "sv" / "bridge.vlt", *echo_manifest.sources, *BRIDGE_SV),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_second_front_end_parses_the_bridge(echo_manifest):
    pyslang = pytest.importorskip("pyslang", reason="pyslang is not installed")
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    files = [*echo_manifest.sources, *BRIDGE_SV, ROOM / "sv" / "roceproof_tb.sv"]
    flags = ("--timescale", "1ps/1ps", "--top", "roceproof_tb")
    words = ["slang", *flags, f"-DROCEPROOF_DUT={echo_manifest.top}", *map(str, files)]
    assert driver.parseCommandLine(" ".join(words))
    assert driver.processOptions()
    assert driver.parseAllSources()
    assert driver.runFullCompilation()


def test_defines_includes_and_parameters_reach_the_device(echo_manifest, tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "limits.svh").write_text("`define TEXT_OF_INCLUDE 1\n")
    text = echo_manifest.sources[-1].read_text()
    device = tmp_path / "device.sv"
    body = """
`include "limits.svh"
  if (Slots != `DEPTH || `TEXT_OF_INCLUDE != 1) $error("slots %0d", Slots);
endmodule"""
    text = re.sub(r"(parameter int unsigned ClockPs\s*= \d+)", r"\1, parameter int Slots = 1", text)
    device.write_text(text.replace("endmodule", body))
    manifest = replace(echo_manifest, sources=(*echo_manifest.sources[:-1], device))

    def build(slots: str) -> None:
        circuit = Circuit(
            includes=(tmp_path / "inc",),
            defines={"DEPTH": "4"},
            parameters={"Slots": slots},
        )
        build_simulation(
            replace(manifest, circuit=circuit), data_width=64, ports=1, build_root=tmp_path
        )

    for manifest_says, words in (
        ({"parameters": {"Slots": "4 +"}}, r"does not build: parameters\.Slots: syntax error"),
        ({"parameters": {"Slot": "4"}}, r"parameters\.Slot: Parameter pin not found"),
        ({"defines": {"ROCEPROOF_BACKDOOR": "u.x"}}, r"responder\.backdoor: .*'u' in dotted"),
    ):
        says = {"defines": {"DEPTH": "4"}} | manifest_says
        wrong = replace(echo_manifest, circuit=Circuit(**says))
        with pytest.raises(BuildError, match=words) as caught:
            build_simulation(wrong, data_width=64, ports=1, build_root=tmp_path)
        assert "\n" not in str(caught.value)
    with pytest.raises(BuildError, match="slots 5"):
        build("5")


def test_a_build_is_made_anew_when_a_file_changes_that_only_the_sources_name(
    echo_manifest: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Verilator has read is hashed, too."""
    header, made = tmp_path / "in a folder" / "below.svh", []
    header.parent.mkdir()
    header.write_text("1")

    def compiled(recipe: Recipe, directory: Path) -> None:
        made.append(header.read_text())
        (directory / EXECUTABLE).touch()
        read = " ".join(str(file).replace(" ", r"\ ") for file in (*recipe.inputs, header))
        told = f"{directory}/Vroceproof.cpp : /usr/bin/verilator_bin {read} \n"
        (directory / "Vroceproof__ver.d").write_text(told)

    monkeypatch.setattr(cache, "verilate", compiled)
    for text in ("1", "1", "2", "2"):
        header.write_text(text)
        build_simulation(echo_manifest, data_width=64, ports=1, build_root=tmp_path)
    assert made == ["1", "2"]


def test_a_log_in_a_folder_of_include_files_makes_no_other_build(
    echo_manifest: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "limits.svh").write_text("// 1")
    device = tmp_path / "device.sv"
    device.write_text('`include "limits.svh"\n' + echo_manifest.sources[-1].read_text())
    sources = (*echo_manifest.sources[:-1], device)
    manifest = replace(echo_manifest, sources=sources, circuit=Circuit(includes=(tmp_path,)))
    made: list[Path] = []

    def compiled(recipe: Recipe, directory: Path) -> None:
        made.append(directory)
        (directory / EXECUTABLE).touch()
        told = f"{directory}/Vroceproof.cpp : {' '.join(map(str, recipe.inputs))} \n"
        (directory / "Vroceproof__ver.d").write_text(told)

    monkeypatch.setattr(cache, "verilate", compiled)
    for name in ("gate.log", "gate.log", "limits.svh"):
        with (tmp_path / name).open("a") as file:
            file.write("// one more line\n")
        build_simulation(manifest, data_width=64, ports=1, build_root=tmp_path / "build")
    assert len(made) == 2
