# SPDX-License-Identifier: BSD-2-Clause
"""Keeps one device warm from case to case, and replaces it when a case has killed it.

A case ends with a device that is empty and answers; one that does not died of that
case, and the case is told. The next case then gets a fresh device.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from roceproof.conformance.targets.interface import CasePlace, DeviceDied, Source, Target
from roceproof.conformance.targets.verbs_target import VerbsDevice, VerbsTarget


class VerbsSource(Source):
    """A source of targets that share a device, one after the other."""

    def __init__(self) -> None:
        self._device: VerbsDevice | None = None

    @abstractmethod
    def _plug_in(self) -> VerbsDevice:
        """A device, started or reached anew."""

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        """The device, emptied, for one case."""
        target = self._begun()
        try:
            yield target
        except BaseException:
            self._end(target)
            raise
        if target.has_died:
            self.close()
        elif death := self._end(target):
            raise death

    def _begun(self) -> VerbsTarget:
        if self._device is None:
            self._device = self._plug_in()
        try:
            return VerbsTarget(self._device)
        except BaseException:
            self.close()
            raise

    def _end(self, target: VerbsTarget) -> DeviceDied | None:
        try:
            target.clear()
        except DeviceDied as death:
            self.close()
            return death
        return None

    def close(self) -> None:
        """Let go of the device."""
        if self._device is not None:
            self._device.close()
            self._device = None
