# SPDX-License-Identifier: BSD-2-Clause
"""Device factories of the reference endpoint with one RTL fault chosen, or none and watched."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roceproof.conformance.mutants.edits import MutantError
from roceproof.conformance.mutants.rtl import DEVICES, load_mutants, mutants_in, reference_mutants
from roceproof.conformance.mutants.triggers import PLUSARG
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, Target
from roceproof.dpi.manifest.dut import Manifest


def rtl_factory(name: str, *, data_width: int | None) -> HdlFactory:
    """The devices of one mutant; all share one build per data width."""
    for folder in DEVICES:
        for mutant in load_mutants(folder).mutants:
            if mutant.id == name:
                plusargs = (mutant.plusarg,)
                return HdlFactory(mutants_in(folder), data_width=data_width, plusargs=plusargs)
    raise MutantError(f"{name}: no RTL mutant has this id; they are in rtl/mutants")


class WatchedFactory(HdlFactory):
    """The healthy endpoint; each of its simulations leaves in a folder which faults it reached."""

    def __init__(self, manifest: Manifest, folder: Path, *, data_width: int | None) -> None:
        super().__init__(manifest, data_width=data_width)
        self._folder = folder

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = (self._folder / f"{_stem(place.name)}-{place.seed}.txt").absolute()
        factory = HdlFactory(
            self.manifest, data_width=self.claims.data_width, plusargs=(f"{PLUSARG}={path}",)
        )
        with factory.device(place) as target:
            yield target


def watched_factory(folder: Path, *, data_width: int | None) -> WatchedFactory:
    """Devices with every fault in them and none chosen."""
    return WatchedFactory(reference_mutants(), folder, data_width=data_width)


def reached_in(folder: Path, case: str) -> dict[int, frozenset[int]]:
    """The mutants, by number, that a case, by its short name, reached with each seed of a device.

    A case that makes devices afresh gives each a seed of its own.
    """
    return {
        int(path.stem.rpartition("-")[2]): frozenset(
            int(line.split()[0]) for line in path.read_text().splitlines()
        )
        for path in folder.glob(f"{_stem(case)}-*.txt")
    }


def _stem(case: str) -> str:
    return hashlib.sha256(case.encode()).hexdigest()[:20]
