# SPDX-License-Identifier: BSD-2-Clause
"""Lint all SystemVerilog with two front ends.

Verilator elaborates every module on its own at each data width, with all
warnings on; slang parses and elaborates the same sources as a second opinion.
Prints findings and exits 1 if there are any.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyslang

from roceproof.common.paths import (
    BUILD,
    IPV6_DUT,
    READS_DUT,
    RECOVERY_DUT,
    REFERENCE_DUT,
    REPOSITORY,
    RESPONDER_DUT,
    VLAN_DUT,
    XGMII_DUT,
)
from roceproof.dpi.compile.cache import circuit_of
from roceproof.dpi.compile.vhdl import verilog_sources
from roceproof.dpi.manifest.dut import Manifest, load_manifest

WAIVERS = sorted(
    path
    for place in ("[dr]*/*", "examples/*", "tests/dpi")
    for path in REPOSITORY.glob(f"{place}/*.vlt")
)
SMALL_DUT = REPOSITORY / "examples" / "byte_endpoint" / "dut.toml"  # with a memory of its own
EXAMPLES = sorted(REPOSITORY.glob("examples/*/dut.toml"))
BRIDGE = sorted((REPOSITORY / "dpi" / "sv").glob("*.sv"))
TEST_DEVICES = sorted(REPOSITORY.glob("tests/dpi/*_dut/dut.toml"))
ENDPOINT = REFERENCE_DUT.parent / "roce_endpoint.sv"
MAC = sorted((REPOSITORY / "rtl" / "mac").glob("*.sv"))
FORMAL = sorted((REPOSITORY / "rtl" / "formal").glob("*.sv"))
HELPERS = sorted((REPOSITORY / "rtl" / "helpers").glob("*.sv"))


def modules(path: Path) -> list[str]:
    """Names of the modules a file defines."""
    return re.findall(r"^module\s+(?:automatic\s+)?(\w+)", path.read_text(), re.MULTILINE)


def has_width(path: Path) -> bool:
    """Whether the module is parametrised by the data width."""
    return "parameter int unsigned DataWidth" in path.read_text()


def verilator(module: str, width: int | None, sources: list[Path], defines: list[str]) -> str:
    """Verilator's findings for one module as its own top; empty when clean."""
    command = ["verilator", "--lint-only", "-Wall", "--timing", "--timescale", "1ps/1ps"]
    command += ["--top-module", module]
    command += defines
    command += [f"-GDataWidth={width}"] if width else []
    command += [str(path) for path in [*WAIVERS, *sources]]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0 and not result.stderr.strip():
        return ""
    return f"{module} at {width or 'fixed'} bits:\n{result.stderr}"


def slang(sources: list[Path], *, tops: list[str], defines: list[str]) -> bool:
    """Whether slang parses and elaborates `tops` cleanly; it prints its own findings."""
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    arguments = ["slang", "-Werror", "--timescale=1ps/1ps", *(f"--top={top}" for top in tops)]
    arguments += defines
    arguments += [str(path) for path in sources]
    if not driver.parseCommandLine(" ".join(arguments)):
        return False
    if not (driver.processOptions() and driver.parseAllSources()):
        return False
    driver.reportCompilation(driver.createCompilation(), True)
    return bool(driver.reportDiagnostics(True))


def lint(
    manifest: Manifest, *, besides: list[Path], only: list[Path] | None = None, twice: bool = True
) -> bool:
    """Whether a device's sources, and those beside them, are clean; prints what is not.

    Of `only` some files each module is elaborated on its own. Not `twice`: slang, which knows no
    widths but the modules' own, is not asked.
    """
    device = list(verilog_sources(manifest, BUILD / "sim"))
    everything = [*device, *besides]
    circuit = circuit_of(manifest)
    macros = {**circuit.defines, "ROCEPROOF_DUT": manifest.top}
    defines = [f"-D{name}={value}" for name, value in macros.items()]
    given = [*defines, *(f"-G{name}={value}" for name, value in circuit.parameters.items())]
    jobs = [
        (
            module,
            width,
            everything if path in besides else device,
            given if module == manifest.top else defines,
        )
        for path in everything
        if only is None or path in only
        if path in besides or path in manifest.sources  # what GHDL writes has nobody to mend it
        for module in modules(path)
        for width in (manifest.data_widths if has_width(path) else (None,))
    ]
    with ThreadPoolExecutor(2) as pool:
        found = [text for text in pool.map(lambda job: verilator(*job), jobs) if text]
    if found:
        print("\n".join(found))
    tops = [module for path in everything for module in modules(path)]
    return not found and (not twice or slang(everything, tops=tops, defines=defines))


def lint_test_device(path: Path) -> bool:
    """The device alone, and the port of the bridge that its claims ask for."""
    only = [*path.parent.glob("*.sv"), *(each for each in BRIDGE if "port" in each.stem)]
    return lint(load_manifest(path), besides=BRIDGE, only=only)


def main() -> int:
    """Run both front ends over everything; 1 if either found something."""
    clean = [lint(load_manifest(REFERENCE_DUT), besides=[*BRIDGE, *HELPERS, *FORMAL])]
    clean += [lint(load_manifest(RESPONDER_DUT), besides=BRIDGE)]
    clean += [lint(load_manifest(RECOVERY_DUT), besides=[], only=[ENDPOINT], twice=False)]
    clean += [lint(load_manifest(IPV6_DUT), besides=[], only=[ENDPOINT], twice=False)]
    clean += [lint(load_manifest(VLAN_DUT), besides=[], only=[ENDPOINT], twice=False)]
    clean += [lint(load_manifest(READS_DUT), besides=[], only=[ENDPOINT], twice=False)]
    behind_mac = load_manifest(XGMII_DUT)
    clean += [lint(behind_mac, besides=[], only=[*MAC, *behind_mac.sources[-1:], ENDPOINT])]
    clean += [lint(load_manifest(path), besides=[]) for path in EXAMPLES]
    clean += [lint_test_device(path) for path in TEST_DEVICES]
    clean += [lint(load_manifest(SMALL_DUT), besides=BRIDGE, twice=False)]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
