# SPDX-License-Identifier: BSD-2-Clause
"""Lint all SystemVerilog with two front ends.

Verilator elaborates every module on its own at each data width, with all
warnings on; slang parses and elaborates the same sources as a second opinion.
Prints findings and exits 1 if there are any.
"""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyslang

from roceproof.dpi.manifest import load_manifest
from roceproof.paths import REFERENCE_DUT, REPOSITORY

WIDTHS = (64, 512)
WAIVERS = sorted(REPOSITORY.glob("[dr]*/*/*.vlt"))
DEFINES = {"ROCEPROOF_DUT": "roce_endpoint"}
BRIDGE = sorted((REPOSITORY / "dpi" / "sv").glob("*.sv"))


def modules(path: Path) -> list[str]:
    """Names of the modules a file defines."""
    return re.findall(r"^module\s+(?:automatic\s+)?(\w+)", path.read_text(), re.MULTILINE)


def has_width(path: Path) -> bool:
    """Whether the module is parametrised by the data width."""
    return "parameter int unsigned DataWidth" in path.read_text()


def verilator(module: str, width: int | None, sources: list[Path]) -> str:
    """Verilator's findings for one module as its own top; empty when clean."""
    command = ["verilator", "--lint-only", "-Wall", "--timing", "--timescale", "1ps/1ps"]
    command += ["--top-module", module]
    command += [f"-D{name}={value}" for name, value in DEFINES.items()]
    command += [f"-GDataWidth={width}"] if width else []
    command += [str(path) for path in [*WAIVERS, *sources]]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0 and not result.stderr.strip():
        return ""
    return f"{module} at {width or 'fixed'} bits:\n{result.stderr}"


def slang(sources: list[Path], *, tops: list[str]) -> bool:
    """Whether slang parses and elaborates `tops` cleanly; it prints its own findings."""
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    arguments = ["slang", "-Werror", "--timescale=1ps/1ps", *(f"--top={top}" for top in tops)]
    arguments += [f"-D{name}={value}" for name, value in DEFINES.items()]
    arguments += [str(path) for path in sources]
    if not driver.parseCommandLine(" ".join(arguments)):
        return False
    if not (driver.processOptions() and driver.parseAllSources()):
        return False
    driver.reportCompilation(driver.createCompilation(), True)
    return bool(driver.reportDiagnostics(True))


def main() -> int:
    """Run both front ends over everything; 1 if either found something."""
    rtl = list(load_manifest(REFERENCE_DUT).sources)
    everything = [*rtl, *BRIDGE]
    jobs = [
        (module, width, everything if path in BRIDGE else rtl)
        for path in everything
        for module in modules(path)
        for width in (WIDTHS if has_width(path) else (None,))
    ]
    with ThreadPoolExecutor(2) as pool:
        found = [text for text in pool.map(lambda job: verilator(*job), jobs) if text]
    print("\n".join(found))
    tops = [module for path in everything for module in modules(path)]
    clean = slang(everything, tops=tops)
    return 1 if found or not clean else 0


if __name__ == "__main__":
    sys.exit(main())
