# SPDX-License-Identifier: BSD-2-Clause
"""VHDL among a device's sources becomes Verilog by GHDL's synthesis, before anything is built.

What is simulated is the netlist that GHDL writes, one file for all VHDL of the device.
"""

import hashlib
import re
import subprocess
from functools import cache
from pathlib import Path

from roceproof.common.children import run_to_end
from roceproof.common.packages import missing_tools
from roceproof.common.whole_file import whole_file
from roceproof.dpi.compile.errors import MOST_LINES
from roceproof.dpi.compile.verilate import BUILD_SECONDS, BuildError, ToolError
from roceproof.dpi.manifest.circuit import is_vhdl
from roceproof.dpi.manifest.dut import Manifest

GHDL = ("ghdl", "--synth", "--std=08", "-fsynopsys", "--out=verilog")
_CASE = re.compile(r"^ *case .*?^ *endcase$", re.MULTILINE | re.DOTALL)
_NO_ERROR = re.compile(r":(note|warning):")


def verilog_sources(manifest: Manifest, root: Path) -> tuple[Path, ...]:
    """The device's sources, with one file below `root` where the first of its VHDL stands."""
    vhdl = tuple(path for path in manifest.sources if is_vhdl(path))
    entity = manifest.circuit.vhdl_top
    if entity is None:
        return manifest.sources
    text = _synthesized(entity, vhdl, tuple(path.stat().st_ctime_ns for path in vhdl))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    written = root / "vhdl" / f"{entity}-{digest}.v"
    if not written.is_file() or written.read_text(encoding="utf-8") != text:
        written.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(written) as part:
            part.write_text(text, encoding="utf-8")
    swapped = (written if is_vhdl(path) else path for path in manifest.sources)
    return tuple(dict.fromkeys(swapped))


@cache
def _synthesized(entity: str, sources: tuple[Path, ...], _changed: tuple[int, ...]) -> str:
    if lack := missing_tools(GHDL[:1]):
        raise ToolError(lack)
    command: list[str | Path] = [*GHDL, *sources, "-e", entity]
    try:
        done = run_to_end(command, timeout=BUILD_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise BuildError(f"ghdl: {error}") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if not _NO_ERROR.search(line)]
        raise BuildError("\n".join([f"ghdl cannot synthesize {entity}", *lines[:MOST_LINES]]))
    if any("default:" not in case for case in _CASE.findall(done.stdout)):
        raise BuildError(
            "this ghdl writes case statements without their others branch, which is another "
            "circuit; install ghdl 3.0 or later, or write if and elsif instead"
        )
    # A signal of VHDL may be called like a keyword of SystemVerilog.
    return f'`begin_keywords "1364-2005"\n{done.stdout}`end_keywords\n'
