# SPDX-License-Identifier: BSD-2-Clause
"""The bridge between a simulated device and the rest of the world."""

from roceproof.dpi.build import Build, BuildError, build_simulation
from roceproof.dpi.manifest import Capabilities, Manifest, ManifestError, load_manifest
from roceproof.dpi.payload import PatternPayload
from roceproof.dpi.records import (
    Completion,
    Operation,
    PathMtu,
    QpCommand,
    QpConfig,
    Service,
    Status,
    WorkRequest,
)
from roceproof.dpi.simulation import (
    Flow,
    Frame,
    Port,
    PortOptions,
    PortStatistics,
    Simulation,
    SimulationError,
    SimulationTimeout,
    Statistics,
    Stop,
    TimedCompletion,
    Until,
)

__all__ = [
    "Build",
    "BuildError",
    "Capabilities",
    "Completion",
    "Flow",
    "Frame",
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
    "TimedCompletion",
    "Until",
    "WorkRequest",
    "build_simulation",
    "load_manifest",
]
