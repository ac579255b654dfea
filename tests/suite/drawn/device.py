# SPDX-License-Identifier: BSD-2-Clause
"""A factory whose devices differ from case to case, each as its name and the seed say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from drawn.habits import drawn_habits
from drawn.manifest import drawn_manifest
from roceproof.conformance.model.components import Components
from roceproof.conformance.targets.interface import CasePlace, Claims, DeviceFactory, Target
from roceproof.conformance.targets.limited_model import LimitedModelFactory
from roceproof.dpi import Manifest, load_manifest

CONTROL = "control"
"""How the runner calls the device of a control experiment."""


class DrawnDevices(DeviceFactory):
    """One manifest for each case of a session."""

    def __init__(self, seed: int, widest: Claims) -> None:
        self._seed = seed
        self._now: LimitedModelFactory | None = None
        self.claims = widest
        """Of the case that runs; before the first, what nothing is skipped for."""

    def of(self, case: str) -> LimitedModelFactory:
        """The devices of a case."""
        manifest, habits = drawn(self._seed, case)
        return LimitedModelFactory(manifest, habits)

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        """That of the case; a control experiment has the device of the case before it."""
        if place.name != CONTROL or self._now is None:
            self._now = self.of(place.name)
        self.claims = self._now.claims
        with self._now.device(place) as target:
            yield target

    def close(self) -> None:
        """Nothing is held."""


@lru_cache(maxsize=4)
def drawn(seed: int, case: str) -> tuple[Manifest, Components]:
    """What a case is given in the session of a seed."""
    draw = Random(f"{seed} {case}")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dut.toml"
        path.write_text(drawn_manifest(draw))
        manifest = load_manifest(path)
    return manifest, drawn_habits(draw)


def drawn_text(seed: int, case: str) -> str:
    """Its manifest as text."""
    return drawn_manifest(Random(f"{seed} {case}"))
