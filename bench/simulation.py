# SPDX-License-Identifier: BSD-2-Clause
"""What the bridge costs: simulated cycles per second of processor time, bare and attached.

All simulations work off the same list of WRITE messages. The bare one makes and swallows
everything in SystemVerilog. `bridge` gets its work through the bridge and its frames go into a
link that drops them; `python` also sends every frame to the Python process, as lockstep does.
Repetitions alternate, so that a slow moment of the machine hits all; processor time of the
simulator counts, so that other programs do not. A neighbour on the same host still slows memory
and clock, never speeds them, so each kind is judged by its best run. Start-up is included.
"""

import argparse
import resource
import struct
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from roceproof.dpi import (
    Manifest,
    Operation,
    PathMtu,
    PatternPayload,
    PortOptions,
    QpConfig,
    Service,
    Simulation,
    Until,
    WorkRequest,
    build_simulation,
    load_manifest,
)
from roceproof.dpi.compile.cache import build_recipe
from roceproof.dpi.compile.verilate import Recipe

REPOSITORY = Path(__file__).resolve().parents[1]
MESSAGE_BYTES = 65536
RUN_SECONDS = 600
QPN = 0x11


def run_bare(executable: Path) -> int:
    """Run to the last completion; the cycles it took."""
    done = subprocess.run(
        [executable], capture_output=True, text=True, check=True, timeout=RUN_SECONDS
    )
    return int(done.stdout.split("cycles ")[1].split()[0])


def run_attached(manifest: Manifest, data_width: int, messages: int, cycles: int, link: str) -> int:
    """The same work through the bridge; the cycles it took."""
    ports = [PortOptions(link=link)]
    with Simulation.start(manifest, data_width=data_width, ports=ports) as simulation:
        port = simulation.port(0)
        port.configure(
            QpConfig(
                local_qpn=QPN, remote_qpn=QPN + 1, service=Service.UC, path_mtu=PathMtu.MTU_4096
            )
        )
        for i in range(messages):
            port.post(
                WorkRequest(
                    wr_id=i, qpn=QPN, operation=Operation.WRITE, length=MESSAGE_BYTES, rkey=1
                ),
                payload=PatternPayload(seed=i, length=MESSAGE_BYTES),
            )
        stop = simulation.run(cycles=cycles, timeout=RUN_SECONDS)
        done = len(port.take_completions())
        while done < messages:
            stop = simulation.run(cycles=cycles, until=Until.COMPLETION, timeout=RUN_SECONDS)
            done += len(port.take_completions())
        return stop.cycle


def processor_seconds(job: Callable[[], int]) -> tuple[int, float]:
    """What the job returns, and the processor time of the processes it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = job()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(
    manifest: Manifest, data_width: int, messages: int, repetitions: int, sink: str
) -> None:
    """Measure one data width and print its lines."""
    bare = build_recipe(
        Recipe(
            sources=(*manifest.sources, REPOSITORY / "bench" / "bare_endpoint.sv"),
            parameters={
                "DataWidth": data_width,
                "ClockPs": manifest.clock_ps_at(data_width),
                "Messages": messages,
                "MessageBytes": MESSAGE_BYTES,
            },
            dut=manifest.top,
            bridge=False,
        ),
        name=f"bare-{manifest.name}-{data_width}",
    )
    build_simulation(manifest, data_width=data_width, ports=1)
    cycles = run_bare(bare.executable)
    jobs = {
        "bare": lambda: run_bare(bare.executable),
        "bridge": lambda: run_attached(manifest, data_width, messages, cycles, sink),
        "python": lambda: run_attached(manifest, data_width, messages, cycles, "lockstep"),
    }
    speeds: dict[str, list[float]] = {kind: [] for kind in jobs}
    for _ in range(repetitions):
        for kind, job in jobs.items():
            ran, seconds = processor_seconds(job)
            speeds[kind].append(ran / seconds)
    print(f"{manifest.name}, {data_width} bit, {messages} WRITE messages of {MESSAGE_BYTES} bytes:")
    for kind, measured in speeds.items():
        speed, bare_speed = max(measured), max(speeds["bare"])
        print(
            f"  {kind:7} {speed / 1e3:8.0f} kcycle/s  ratio {speed / bare_speed:.3f}"
            f"  (best of {repetitions}, slowest {min(measured) / 1e3:.0f})"
        )


def write_empty_capture(path: Path) -> None:
    """A capture without frames: replaying it makes a link that only swallows."""
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))


def main() -> None:
    """Measure every data width of a device."""
    parser = argparse.ArgumentParser(description="Cost of the bridge in simulated cycles/s")
    parser.add_argument("--dut", type=Path, default=REPOSITORY / "rtl" / "dut.toml")
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--repetitions", type=int, default=11)
    options = parser.parse_args()
    manifest = load_manifest(options.dut)
    with tempfile.TemporaryDirectory() as directory:
        capture = Path(directory) / "empty.pcap"
        write_empty_capture(capture)
        for data_width in manifest.data_widths:
            # As many cycles, so that start-up weighs the same, whatever the width.
            messages = options.messages * data_width // 64
            compare(manifest, data_width, messages, options.repetitions, f"pcap:{capture}")


if __name__ == "__main__":
    main()
