# SPDX-License-Identifier: BSD-2-Clause
"""The bridge between a simulated device and the rest of the world."""

from roceproof.dpi.compile.cache import Build, BuildError, build_simulation
from roceproof.dpi.contract.records import (
    Completion,
    Operation,
    QpCommand,
    QpConfig,
    Status,
    WorkRequest,
)
from roceproof.dpi.manifest.dut import Capabilities, Manifest, ManifestError, load_manifest
from roceproof.dpi.session.events import (
    Frame,
    Inbound,
    PortStatistics,
    Statistics,
    Stop,
    Taken,
    TimedCompletion,
    Until,
)
from roceproof.dpi.session.options import Flow, PortOptions
from roceproof.dpi.session.payload import PatternPayload
from roceproof.dpi.session.port import Port
from roceproof.dpi.session.process import SimulationError, SimulationTimeout
from roceproof.dpi.session.simulation import Simulation
from roceproof.verbs.service import PathMtu, Service

__all__ = [
    "Build",
    "BuildError",
    "Capabilities",
    "Completion",
    "Flow",
    "Frame",
    "Inbound",
    "Manifest",
    "ManifestError",
    "Operation",
    "PathMtu",
    "PatternPayload",
    "Port",
    "PortOptions",
    "PortStatistics",
    "QpCommand",
    "QpConfig",
    "Service",
    "Simulation",
    "SimulationError",
    "SimulationTimeout",
    "Statistics",
    "Status",
    "Stop",
    "Taken",
    "TimedCompletion",
    "Until",
    "WorkRequest",
    "build_simulation",
    "load_manifest",
]
