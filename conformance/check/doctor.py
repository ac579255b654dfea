# SPDX-License-Identifier: BSD-2-Clause
"""What `doctor` asks of rooms beside `rxe_env`, and how it tells checks."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict

from rich.markup import escape

from roceproof.common.children import run_to_end
from roceproof.common.exit_codes import Exit
from roceproof.common.packages import missing_header, missing_tools
from roceproof.common.printable import printable
from roceproof.common.terminal import Terminal
from roceproof.conformance.check.build import TOOL, ToolError, find_oracle
from roceproof.dpi.compile.verilate import TOOLS
from roceproof.rxe_env.doctor import Check

PROBE = "#include <pcap/pcap.h>\n#include <zlib.h>\n"
PROBE_SECONDS = 60
STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


def wire_oracle() -> Check:
    """Whether captures can be checked here."""
    name = "wire oracle"
    try:
        oracle = find_oracle()
        done = run_to_end([oracle, "/dev/null"], timeout=PROBE_SECONDS)
    except ToolError as error:
        return _lack(name, str(error).removeprefix(f"{TOOL} cannot be built: "))
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name, "fail", str(error), "install roceproof anew")
    if done.returncode not in (0, 1, 2):
        return Check(name, "fail", done.stderr.strip(), "install roceproof anew")
    return Check(name, "ok", str(oracle))


def simulation_build() -> Check:
    """Whether what Verilator writes can be compiled here."""
    name = "simulation build"
    compilers = [tool for tool in TOOLS if tool != "verilator"]
    if lack := missing_tools(compilers):
        return _lack(name, lack)
    probe = ("cc", "-fsyntax-only", "-x", "c", "-")
    done = subprocess.run(
        probe, input=PROBE, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
    )
    if lack := missing_header(done.stderr):
        return _lack(name, lack)
    return Check(name, "ok", f"{', '.join(compilers)}, libpcap, zlib")


def _lack(name: str, words: str) -> Check:
    detail, _, remedy = words.rpartition(": ")
    return Check(name, "fail", detail, remedy)


def tell_checks(checks: Sequence[Check], *, as_json: bool) -> int:
    """Print checks, each lack with what mends it; 1 if one failed, else 0."""
    if as_json:
        print(json.dumps({"schema": 1, "checks": [asdict(check) for check in checks]}))
    else:
        console = Terminal()
        for check in checks:
            remedy = f"; mend: {check.remedy}" if check.remedy else ""
            mark = f"[{STYLES[check.status]}]{check.status:4}[/]"
            console.print(f"{mark}  {check.name:18}{escape(printable(check.detail + remedy))}")
    return Exit.FINDINGS if any(check.status == "fail" for check in checks) else Exit.FINE
