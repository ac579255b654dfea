# SPDX-License-Identifier: BSD-2-Clause
"""One example device, and what `roceproof check` and `explain` say of its capture."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from endpoint_bench import PORT_IPV4, PORT_MAC, Bench, qp

from roceproof.common.paths import REPOSITORY
from roceproof.dpi import PortOptions, Simulation
from roceproof.dpi.contract.records import QpCommand, QpConfig
from roceproof.dpi.manifest.dut import Manifest, load_manifest
from roceproof.verbs.service import Service

COMMAND = Path(sys.executable).parent / "roceproof"
WIDTH = 64


class Example(Bench):
    """A bench that remembers its capture and what its QPs were configured with."""

    def __init__(self, simulation: Simulation, clock_ps: int, capture: Path) -> None:
        super().__init__(simulation, WIDTH, clock_ps, mac=PORT_MAC, ipv4=PORT_IPV4)
        self.capture = capture
        self.rows: list[dict[str, object]] = []

    def activate(self, *configs: QpConfig) -> None:
        """Configure queue pairs, and note the facts of those that can send."""
        super().activate(*configs)
        self.rows += [
            {
                "service": config.service.name,
                "address": PORT_IPV4,
                "qpn": config.local_qpn,
                "start_psn": config.sq_psn,
                "remote_address": config.remote_gid,
                "remote_qpn": config.remote_qpn,
                "path_mtu": config.path_mtu.size,
                "dscp": config.traffic_class >> 2,
                "ttl": config.hop_limit,
            }
            for config in configs
            if config.service is Service.UC and config.command is QpCommand.ACTIVATE
        ]


def uc(index: int = 0, **fields: object) -> QpConfig:
    """A UC queue pair."""
    return qp(index, **({"service": Service.UC} | fields))


def example_manifest(name: str) -> Manifest:
    """The manifest of an example."""
    return load_manifest(REPOSITORY / "examples" / name / "dut.toml")


@contextmanager
def open_example(manifest: Manifest, capture: Path) -> Iterator[Example]:
    """Start an example device."""
    port = PortOptions(mac=PORT_MAC, ipv4=PORT_IPV4, link="lockstep", capture=capture)
    with Simulation.start(manifest, data_width=WIDTH, ports=[port]) as simulation:
        yield Example(simulation, manifest.clock_ps_at(WIDTH), capture)


def _judge(command: str, example: Example) -> dict[str, Any]:
    facts = example.capture.with_suffix(".json")
    facts.write_text(json.dumps({"schema": 1, "qps": example.rows}))
    words = [COMMAND, command, "--json", "--qps", facts, example.capture]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def check(example: Example) -> dict[str, Any]:
    """The document of `roceproof check`."""
    return _judge("check", example)


def explain(example: Example) -> list[dict[str, Any]]:
    """The diagnoses of `roceproof explain`."""
    return _judge("explain", example)["diagnoses"]
