# SPDX-License-Identifier: BSD-2-Clause
"""The devices of a run of plans: what was asked for, built, and what they claim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import click

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REFERENCE_DUT
from roceproof.common.progress import Progress
from roceproof.conformance.runner.session.options import Options, open_factory, widths_of
from roceproof.conformance.stimulus.run_plan import draws_of
from roceproof.conformance.targets.interface import Claims
from roceproof.dpi import load_manifest
from roceproof.dpi.manifest.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A kind of device, as a command line names it."""

    target: str
    dut: Path | None
    widths: Sequence[int]
    mutant: str | None
    kernel: str | None = None
    interface: str | None = None
    agent: str | None = None
    mirror: str | None = None
    device_ip: str | None = None

    def options(self) -> Options:
        """The same for whoever opens devices."""
        if self.dut is not None and self.target != "hdl":
            raise click.UsageError("--dut is for --target hdl")
        return Options(
            target=self.target,
            dut=(self.dut or REFERENCE_DUT).resolve(),
            width=tuple(self.widths),
            mutant=self.mutant,
            kernel=self.kernel,
            interface=self.interface,
            agent=self.agent,
            mirror=self.mirror,
            device_ip=self.device_ip,
        )


@dataclass(frozen=True)
class PlanDevices:
    """At every data width, ready to be opened."""

    options: Options
    widths: Sequence[int | None]
    claims: Sequence[Claims]
    look: Callable[[], None]
    """Raises if the device's sources are others than when the run began."""

    @classmethod
    def prepared(cls, options: Options, progress: Progress) -> Self:
        """Build them; one for which there are no plans is refused."""
        look = _nothing_to_look_at
        if options.target == "hdl":
            look = Snapshot(load_manifest(options.dut)).must_hold
        widths = widths_of(options)
        factories = [open_factory(options, width) for width in widths]
        if not all(draws_of(factory.claims) for factory in factories):
            raise RoceproofError(
                f"{options.dut}: no plans for it: its [capabilities] list nothing that it sends, "
                "and there is no [responder]"
            )
        for factory in factories:
            factory.prepare(progress.step)
        return cls(options, widths, [factory.claims for factory in factories], look)


def _nothing_to_look_at() -> None:
    """A model has no sources that may change."""
