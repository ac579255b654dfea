# SPDX-License-Identifier: BSD-2-Clause
"""An installed wheel works from an empty folder, where no tool of the system is on the path.

One test runs all commands that need nothing else, another those that must name what they lack.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from installation import Installation, of_checkout

from roceproof.common.paths import REPOSITORY
from roceproof.pcap.wireshark.install import PLUGIN, PROFILE_FILES

HEALTHY = of_checkout("fetch_add.pcapng.gz")
LOST = of_checkout("uc_write_gap.pcapng.gz")
FINE, FINDINGS, LACKING, SKIPPED = 0, 1, 2, 77


@pytest.mark.slow
def test_it_carries_what_is_no_python(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"roceproof/pcap/wireshark/profile/{name}" for name in PROFILE_FILES} <= names
    assert f"roceproof/pcap/wireshark/{PLUGIN}" in names
    assert {"roceproof/rtl/dut.toml", "roceproof/dpi/src/main.cpp"} <= names
    assert {"roceproof/docs/observer.md", "roceproof/examples/uc_writer/dut.toml"} <= names
    assert {"roceproof/pcap/roce-check", "roceproof/pcap/licenses/libjansson-dev"} <= names
    assert not [name for name in names if "/pcap/" in name and name.endswith((".c", ".h"))]
    assert not [name for name in names if "__pycache__" in name or "/rtl/test/" in name]


@pytest.mark.slow
def test_every_room_is_in_it_and_in_a_checkout() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["scikit-build"]
    package = REPOSITORY / "roceproof"
    rooms = {path.parent.name for path in REPOSITORY.glob("*/__init__.py")} - {package.name}
    assert rooms <= set(project["wheel"]["force-include"])
    linked = {path.name: path.resolve() for path in package.iterdir() if path.is_symlink()}
    assert linked == {room: REPOSITORY / room for room in rooms}


@pytest.mark.slow
def test_its_program_needs_the_c_library_alone(installed: Installation) -> None:
    program = installed.package / "pcap" / "roce-check"
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    needed = {line.split()[0].partition(".")[0].rpartition("/")[2] for line in said.splitlines()}
    assert needed <= {"linux-vdso", "libc", "ld-linux-x86-64", "ld-linux-aarch64"}


@pytest.mark.slow
def test_captures_are_judged_drawn_and_compared(installed: Installation) -> None:
    checked = installed.run("check", "--json", HEALTHY)
    assert checked.returncode == FINE, checked.stderr
    assert json.loads(checked.stdout)["roce_frames"] > 0
    assert installed.run("check", "--annotate", "a.pcapng", HEALTHY).returncode == FINE
    assert (installed.work / "a.pcapng").stat().st_size > 0

    explained = installed.run("explain", LOST)
    assert (explained.returncode, "lost" in explained.stdout) == (FINDINGS, True)
    drawn = installed.run("ladder", "-o", "ladder.html", HEALTHY)
    assert drawn.returncode == FINE, drawn.stderr
    assert "<html" in (installed.work / "ladder.html").read_text()
    compared = installed.run("diff", HEALTHY, HEALTHY)
    assert (compared.returncode, "no difference" in compared.stdout) == (FINE, True)

    ruled = installed.run("rules", "PSN-02")
    assert "docs/observer.md, sections" in ruled.stdout
    wired = installed.run("wireshark", "install")
    assert wired.returncode == FINE, wired.stderr
    assert (installed.home / ".config/wireshark/profiles/roceproof/preferences").exists()


@pytest.mark.slow
def test_cases_run_against_the_model(installed: Installation) -> None:
    run = installed.run("test", "--target", "model", "-k", "test_responder_uc", "-j", "1")
    assert run.returncode == FINE, run.stdout + run.stderr
    assert " passed" in run.stdout
    assert (installed.work / "build/conformance/results.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "mend"),
    [
        (("demo", "--out", "d"), LACKING, "verilator is not installed: apt-get install verilator"),
        (("test", "-k", "psn"), LACKING, "verilator is not installed: apt-get install verilator"),
        (("demo-tap",), SKIPPED, "apt-get install util-linux"),
        (("sim", "--link", "pcap:x"), LACKING, "apt-get install verilator"),
        (("env", "up"), LACKING, "apt-get install qemu-system-x86 busybox-static gcc zstd"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_a_command_lacks_is_one_line(
    installed: Installation, words: tuple[str, ...], code: int, mend: str
) -> None:
    run = installed.run(*words)
    told = [line for line in run.stderr.splitlines() if line.startswith("roceproof: ")]
    assert (run.returncode, len(told)) == (code, 1), run.stderr
    assert told[0].endswith(mend)


@pytest.mark.slow
def test_doctor_sees_what_is_usable(installed: Installation) -> None:
    run = installed.run("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(run.stdout)["checks"]}
    assert run.returncode == FINDINGS
    assert checks["wire oracle"]["status"] == "ok"
    assert checks["simulation build"]["remedy"] == "apt-get install make g++ gcc"
    assert checks["Verilator"]["remedy"] == "apt-get install verilator"
    assert checks["user namespaces"]["remedy"] == "apt-get install util-linux"


@pytest.mark.slow
def test_nothing_is_written_into_the_package_but_what_python_compiles(
    installed: Installation, wheel: Path
) -> None:
    carried = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info" not in name}
    there = {
        str(path.relative_to(installed.package.parent))
        for path in installed.package.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert there == carried
