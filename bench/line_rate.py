# SPDX-License-Identifier: BSD-2-Clause
"""How near the endpoint comes to its line's rate, in simulated cycles: the same on any machine.

For each wire, width, service, path MTU and length of message: WRITEs are posted at once and every
stream moves whenever it can. What counts is the time between the ends of the first and the last
frame of those that are measured, so that the pipeline is full. `ratio` is the time that the line
needs for these frames, each with 24 bytes of preamble, gap and FCS, to the time that the endpoint
takes; 1 at most, since a MAC holds it back. On XGMII that is the endpoint's own. RC requests are
acknowledged in the cycle after they have left.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from roceproof.conformance.wire.acknowledgement import acknowledgement
from roceproof.conformance.wire.codec import parse
from roceproof.dpi import (
    Manifest,
    Operation,
    PathMtu,
    PatternPayload,
    Port,
    PortOptions,
    QpConfig,
    Service,
    Simulation,
    Until,
    WorkRequest,
    build_simulation,
    load_manifest,
)
from roceproof.dpi.manifest.dut import STREAM, XGMII

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "line-rate.md"
BEGIN, END = "<!-- made by make bench-rtl -->", "<!-- end -->"
OVERHEAD_BYTES = 24
QUEUE_PAIRS = 4
RUN_CYCLES = 10**7


@dataclass(frozen=True)
class Line:
    """A wire and its width, and the line that it is for."""

    width: int
    speed_gbps: int
    clock_ps: int
    wire: str = STREAM


DEVICES = {STREAM: "dut.toml", XGMII: "xgmii.toml"}
LINES = (
    Line(64, 10, 6400),
    Line(64, 25, 2560),
    Line(128, 50, 2560),
    Line(256, 100, 2560),
    Line(512, 100, 3103),
    Line(512, 200, 2560),
    Line(1024, 400, 2400),
    Line(64, 10, 6400, XGMII),
    Line(64, 25, 2560, XGMII),
)
SERVICES = (Service.UC, Service.RC)
PATH_MTUS = {
    STREAM: (PathMtu.MTU_1024, PathMtu.MTU_4096),
    XGMII: (PathMtu.MTU_1024, PathMtu.MTU_2048, PathMtu.MTU_4096),
}
ON_PAGE = PathMtu.MTU_1024
MESSAGES = (1, 64, 256, 1024, 4096, 16384, 1 << 20)


@dataclass(frozen=True)
class Load:
    """What is sent: messages of so many bytes, on so many queue pairs in turn."""

    width: int
    service: Service
    path_mtu: PathMtu
    message: int

    @property
    def count(self) -> int:
        """How many messages: some hundred packets, and eight messages at least."""
        return max(8, min(400, (1 << 20) // self.message))


@dataclass(frozen=True)
class Pace:
    """What was measured: frames and bytes between two moments, and the cycles between these."""

    frames: int
    bytes: int
    messages: float
    cycles: int
    first_frame: int
    """Cycles from the first work request to the end of the first frame."""

    def row(self, line: Line, load: Load) -> dict[str, str | int | float]:
        """A row of rtl.json."""
        took = self.cycles * line.clock_ps * 1e-12
        needed = (self.bytes + self.frames * OVERHEAD_BYTES) * 8 / (line.speed_gbps * 1e9)
        return {
            **asdict(line),
            "service": load.service.name,
            "pmtu": load.path_mtu.size,
            "operation": "WRITE",
            "message": load.message,
            "ratio": round(min(1.0, needed / took), 4),
            "cycles_per_packet": round(self.cycles / self.frames, 2),
            "first_frame_cycles": self.first_frame,
            "messages_per_second": round(self.messages / max(took, needed)),
        }


def post(port: Port, load: Load, index: int) -> None:
    """Post the message of that index; it goes to memory that takes anything."""
    port.post(
        WorkRequest(
            wr_id=index,
            qpn=1 + index % QUEUE_PAIRS,
            operation=Operation.WRITE,
            length=load.message,
            rkey=1,
        ),
        payload=PatternPayload(seed=index, length=load.message),
    )


def measure(manifest: Manifest, load: Load) -> Pace:
    """Play a load to its last frame; the first quarter of the frames is not measured."""
    with Simulation.start(manifest, data_width=load.width, ports=[PortOptions()]) as simulation:
        port = simulation.port(0)
        for qpn in range(1, 1 + QUEUE_PAIRS):
            port.configure(
                QpConfig(
                    local_qpn=qpn, remote_qpn=qpn, service=load.service, path_mtu=load.path_mtu
                )
            )
        begin = simulation.run(cycles=100).cycle
        for index in range(load.count):
            post(port, load, index)
        ends, sizes = [], []
        due = load.count * max(1, -(-load.message // load.path_mtu.size))
        while len(ends) < due:
            simulation.run(cycles=RUN_CYCLES, until=Until.FRAME)
            for frame in port.take_frames():
                ends.append(frame.cycle)
                sizes.append(len(frame.data))
                request = parse(frame.data)
                if request and request.bth.ack_req:
                    port.inject(acknowledgement(request, qpn=request.bth.dest_qpn))
    skipped = due // 4
    frames = due - 1 - skipped
    return Pace(
        frames=frames,
        bytes=sum(sizes[skipped + 1 :]),
        messages=frames * load.count / due,
        cycles=ends[-1] - ends[skipped],
        first_frame=ends[0] - begin,
    )


def loads(wire: str, width: int) -> Iterator[Load]:
    for service in SERVICES:
        for path_mtu in PATH_MTUS[wire]:
            for message in MESSAGES:
                yield Load(width, service, path_mtu, message)


def device(wire: str, width: int) -> Manifest:
    """The endpoint on this wire, at a width that it may not name: the source has a parameter."""
    return replace(load_manifest(REPOSITORY / "rtl" / DEVICES[wire]), data_widths=(width,))


def table(rows: list[dict[str, str | int | float]]) -> str:
    """The ratios at the path MTU of the page in Markdown, a column for each length."""
    head = ["wire", "bits", "Gb/s", "service", *(f"{message} B" for message in MESSAGES)]
    kinds: dict[tuple[str | int | float, ...], list[str]] = {}
    for row in (row for row in rows if row["pmtu"] == ON_PAGE.size):
        kind = tuple(row[key] for key in ("wire", "width", "speed_gbps", "service"))
        kinds.setdefault(kind, []).append(f"{row['ratio']:.3f}")
    cells = [head, ["---"] * len(head), *([*map(str, kind), *all_] for kind, all_ in kinds.items())]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def plot(rows: list[dict[str, str | int | float]], path: Path) -> None:
    """The ratios over the length of messages, a panel for each service, as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "roceproof", "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(SERVICES), figsize=(9, 3.2), sharey=True)
    for service, panel in zip(SERVICES, panels, strict=True):
        for line in LINES:
            curve = [
                (row["message"], row["ratio"])
                for row in rows
                if row["service"] == service.name
                and row["pmtu"] == ON_PAGE.size
                and all(row[key] == value for key, value in asdict(line).items())
            ]
            told = f"{line.width} bit at {line.speed_gbps} Gb/s"
            if line.wire == XGMII:
                told += ", XGMII"
            panel.plot(*zip(*curve, strict=True), marker=".", label=told)
        panel.set(
            title=f"{service.name} WRITE, path MTU {ON_PAGE.size}", xlabel="bytes of a message"
        )
        panel.set_xscale("log", base=2)
        panel.grid(alpha=0.3)
    panels[0].set(ylabel="of the line's rate", ylim=(0, 1.05))
    panels[-1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": None})


def main() -> None:
    """Measure, and write build/bench/rtl.json; the table on stdout, or into the page."""
    parser = argparse.ArgumentParser(description="The endpoint's pace beside that of its line")
    parser.add_argument("--page", action="store_true", help=f"renew the table and plot of {PAGE}")
    options = parser.parse_args()
    rows = []
    for wire, width in dict.fromkeys((line.wire, line.width) for line in LINES):
        here = device(wire, width)
        build_simulation(here, data_width=width, ports=1)
        paces = [(load, measure(here, load)) for load in loads(wire, width)]
        for line in LINES:
            if (line.wire, line.width) == (wire, width):
                rows += [pace.row(line, load) for load, pace in paces]
    out = REPOSITORY / "build" / "bench" / "rtl.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    if options.page:
        text = PAGE.read_text()
        before, after = text[: text.index(BEGIN)], text[text.index(END) :]
        PAGE.write_text(f"{before}{BEGIN}\n{table(rows)}\n{after}")
        plot(rows, PAGE.parent / "pictures" / "line-rate.svg")
    else:
        print(table(rows))
    print(out)


if __name__ == "__main__":
    main()
