# SPDX-License-Identifier: BSD-2-Clause
"""Builds the core of examples/uc_writer with Verilator, as it is, and runs the testbench on it."""

import sys
from pathlib import Path

from cocotb.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent
CORE = HERE.parent / "uc_writer" / "core"


def main(build: Path) -> int:
    """The number of failed tests."""
    runner = get_runner("verilator")
    runner.build(
        sources=sorted(CORE.glob("*.v")),
        hdl_toplevel="uc_writer",
        build_args=["-Wno-fatal"],
        build_dir=build,
    )
    results = runner.test(
        hdl_toplevel="uc_writer",
        test_module="uc_writes",
        test_dir=HERE,
        build_dir=build,
        results_xml=str(build / "results.xml"),
    )
    _, failed = get_results(results)
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/cocotb").resolve()))
