# SPDX-License-Identifier: BSD-2-Clause
"""The half of ``demo-tap`` that runs inside the private namespace.

Makes a TAP there, attaches the simulated endpoint to it and lets the system's
``ping`` find it by ARP. Exit code 0 if every echo came back.
"""

import re
import subprocess
import sys
from pathlib import Path

from rich.table import Table

from roceproof.common.outcome import end_with, exit_interrupted
from roceproof.common.output import output_directory
from roceproof.common.paths import REFERENCE_DUT
from roceproof.common.progress import Progress
from roceproof.common.terminal import Terminal
from roceproof.dpi import PortOptions, Simulation
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.rxe_env.commands import run, tool

TAP = "roceproof0"
HOST_ADDRESS = "10.78.0.2"
ENDPOINT_ADDRESS = "10.78.0.1"
ENDPOINT_MAC = "02:00:00:00:00:01"
MTU = 4200
ECHO_SIZES = (0, 1, 2, 3, 17, 18, 19, 56, 100, 1000, 1472, 4000)
ECHOES = 3


def main() -> int:
    """Run; what is to be said of an interruption is said outside."""
    try:
        return ping_all(data_width=int(sys.argv[1]), quiet=sys.argv[2] == "quiet")
    except KeyboardInterrupt:
        return exit_interrupted()


def ping_all(*, data_width: int, quiet: bool) -> int:
    """Ping with every size; print what came back."""
    make_tap()
    place = Path("build/demo-tap")
    capture = place / "capture.pcapng"
    port = PortOptions(mac=ENDPOINT_MAC, ipv4=ENDPOINT_ADDRESS, link=f"tap:{TAP}", capture=capture)
    with (
        output_directory(place),
        Progress(quiet=quiet) as progress,
        Simulation.start(
            load_manifest(REFERENCE_DUT), data_width=data_width, ports=[port], free_running=True
        ),
    ):
        with progress.bar("pinging", total=len(ECHO_SIZES), unit="sizes") as bar:
            results = []
            for size in ECHO_SIZES:
                results.append((size, *ping(size)))
                bar.advance()
        neighbour = run([tool("ip"), "neigh", "show", "to", ENDPOINT_ADDRESS])
    report(results, capture)
    resolved = ENDPOINT_MAC in neighbour
    if not resolved:
        print(f"ARP did not resolve {ENDPOINT_ADDRESS}: {neighbour.strip()}", file=sys.stderr)
    return 0 if resolved and all(received == ECHOES for _, received, _ in results) else 1


def make_tap() -> None:
    """Create and address the TAP; it lives as long as the namespace."""
    ip = tool("ip")
    run([ip, "tuntap", "add", "dev", TAP, "mode", "tap"])
    run([ip, "address", "add", f"{HOST_ADDRESS}/24", "dev", TAP])
    run([ip, "link", "set", "dev", TAP, "mtu", str(MTU), "up"])


def ping(size: int) -> tuple[int, str]:
    """Echoes of `size` payload bytes that came back, and the mean round trip in ms."""
    command = [tool("ping"), "-n", "-c", str(ECHOES), "-i", "0.2", "-W", "5", "-s", str(size)]
    output = subprocess.run(
        [*command, ENDPOINT_ADDRESS], check=False, capture_output=True, text=True
    ).stdout
    received = re.search(r"(\d+) received", output)
    mean = re.search(r"= [\d.]+/([\d.]+)/", output)
    return int(received[1]) if received else 0, mean[1] if mean else "-"


def report(results: list[tuple[int, int, str]], capture: Path) -> None:
    """Print a row per size and where the capture is."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("echo bytes", "received", "mean ms"):
        table.add_column(heading, justify="right")
    for size, received, mean in results:
        style = None if received == ECHOES else "red"
        table.add_row(str(size), f"{received}/{ECHOES}", mean, style=style)
    Terminal().print(table)
    print(capture)


if __name__ == "__main__":
    end_with(main)
