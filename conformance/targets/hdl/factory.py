# SPDX-License-Identifier: BSD-2-Clause
"""Simulations of a design described by its `dut.toml`: one build, a fresh simulation per case."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

from roceproof.common.paths import BUILD
from roceproof.conformance.targets.drawn_address import drawn_address
from roceproof.conformance.targets.hdl.allowance import Pace
from roceproof.conformance.targets.hdl.device import HdlTarget
from roceproof.conformance.targets.hdl.responder import HdlResponder
from roceproof.conformance.targets.hdl.told_end import told_end
from roceproof.conformance.targets.interface import AROUND_PAYLOAD, CasePlace, DeviceFactory, Target
from roceproof.conformance.targets.manifest_claims import claims_of
from roceproof.dpi.compile.cache import Build, build_simulation
from roceproof.dpi.compile.verilate import verilator_version
from roceproof.dpi.manifest.dut import XGMII, Manifest
from roceproof.dpi.session.options import PortOptions
from roceproof.dpi.session.process import SimulationError
from roceproof.dpi.session.simulation import Simulation
from roceproof.verbs.addresses import Host

GOES_ON = "roceproof_goes_on"
"""Assertions inside the device are told behind a case, and do not end it."""


class HdlFactory(DeviceFactory):
    """Simulations of one design at one data width: of what was built first, whatever changes later.

    Each writes what of the code it has exercised into the folder `coverage`, if there is one.
    """

    def __init__(
        self,
        manifest: Manifest,
        *,
        data_width: int | None = None,
        plusargs: Sequence[str] = (),
        command: str | None = None,
        coverage: Path | None = None,
        is_patient: bool = True,
    ) -> None:
        """One that is not patient cuts cases short when some of this device have hung."""
        self.manifest = manifest
        self._pace = None if is_patient else Pace()
        self._width = data_width or manifest.data_widths[0]
        self._plusargs = (*plusargs, GOES_ON)
        self._command = command
        self._coverage = coverage
        self._numbers = count()
        self._build_root = BUILD / "coverage" if coverage else None
        self._builds: dict[bool, Build] = {}
        """What was built without waves, and with them."""
        self.claims = claims_of(manifest, data_width)

    def prepare(self, progress: Callable[[str], None], *, waves: bool = False) -> None:
        self._builds[waves] = build_simulation(
            self.manifest,
            data_width=self._width,
            ports=1,
            fst=waves,
            coverage=self._coverage is not None,
            build_root=self._build_root,
            progress=progress,
        )

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        own, fst = place.host or drawn_address(place.seed), place.waves is not None
        if fst not in self._builds:
            self.prepare(lambda text: None, waves=fst)
        options = PortOptions(mac=own.mac.hex(":"), ipv4=str(ip_address(own.ip)))
        try:
            with Simulation.start(
                self.manifest,
                data_width=self._width,
                ports=[options],
                seed=place.seed,
                waves=place.waves,
                plusargs=self._plusargs,
                command=self._command,
                coverage=self._coverage and self._next_file(self._coverage),
                build=self._builds[fst],
                build_root=self._build_root,
            ) as simulation:
                try:
                    yield self._target(simulation, own, place.seed)
                except KeyboardInterrupt:
                    simulation.abandon()
                    raise
        except SimulationError as error:
            raise told_end(error) from error

    def _target(self, simulation: Simulation, own: Host, seed: int) -> HdlTarget:
        clock_ps, responder = self.manifest.clock_ps_at(self._width), self.manifest.responder
        options: dict[str, Any] = {
            "host": own,
            "limits": self.manifest.limits,
            "environment": self.manifest.environment,
            "frame_cycles": (min(self.claims.path_mtus) + AROUND_PAYLOAD) * 8 // self._width,
            "pace": self._pace,
            "judges_fcs": self.manifest.wire == XGMII,
        }
        if responder is None:
            return HdlTarget(simulation, clock_ps, **options)
        options |= {"responder": responder, "cm": self.manifest.cm, "seed": seed}
        return HdlResponder(simulation, clock_ps, **options)

    def hung(self) -> None:
        if self._pace:
            self._pace.hung += 1

    def _next_file(self, folder: Path) -> Path:
        """Of one simulation: width, process and number."""
        return folder / f"{self._width}.{os.getpid()}.{next(self._numbers)}.dat"

    def versions(self) -> Mapping[str, str]:
        """The simulator and the design; once it has been built, by what all its sources hold."""
        verilator = re.sub(r"\s+", " ", verilator_version()).strip()
        return {
            "verilator": verilator,
            "dut": str(self.manifest.path.name),
            "device": self.manifest.name,
            **{f"build {self._width}": build.directory.name for build in self._builds.values()},
        }

    def close(self) -> None:
        """Nothing is kept."""
