# SPDX-License-Identifier: BSD-2-Clause
"""A factory whose devices differ from case to case, each as its name and the seed say.

A case draws until it can run, so that none is left out because few manifests claim what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import NamedTemporaryFile

from drawn.habits import drawn_habits
from drawn.manifest import drawn_manifest
from roceproof.conformance.model.components import Components
from roceproof.conformance.targets.interface import CasePlace, Claims, DeviceFactory, Target
from roceproof.conformance.targets.model.limited import LimitedModelFactory
from roceproof.dpi import Manifest, load_manifest

DRAWS = 24
"""As often at most; some cases need what no manifest can claim."""
CONTROL = "control"
"""How the runner calls the device of a control experiment."""


class DrawnDevices(DeviceFactory):
    """One manifest for each case of a session."""

    def __init__(self, seed: int, widest: Claims) -> None:
        self._seed = seed
        self._draws: dict[str, int] = {}
        self._now: LimitedModelFactory | None = None
        self.claims = widest
        """Of the case that runs; before the first, what nothing is skipped for."""

    def fit(self, case: str, suits: Callable[[Claims], bool]) -> Claims:
        """Draw for a case until it can run there; what the device drawn last claims."""
        for draw in range(DRAWS):
            self._draws[case] = draw
            claims = self.of(case).claims
            if suits(claims):
                break
        return claims

    def drawn(self, case: str) -> tuple[str, Manifest, Components]:
        """What a case is given: a manifest as text and read, and habits."""
        return drawn(self._seed, case, self._draws.get(case, 0))

    def of(self, case: str) -> LimitedModelFactory:
        """The devices of a case."""
        _, manifest, habits = self.drawn(case)
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
def drawn(seed: int, case: str, draw: int) -> tuple[str, Manifest, Components]:
    """What a case is given by one of its draws in the session of a seed."""
    random = Random(f"{seed} {case} {draw}")
    text = drawn_manifest(random)
    with NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        manifest = load_manifest(Path(file.name))
    return text, manifest, drawn_habits(random)
