# SPDX-License-Identifier: BSD-2-Clause
"""Keeps one device warm from case to case, and replaces it when a case has killed it.

A case ends with a device that is empty and answers; one that does not died of that
case, and the case is told. The next case then gets a fresh device.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from roceproof.conformance.targets.interface import CasePlace, DeviceDied, Source, Target
from roceproof.conformance.targets.verbs_device import VerbsDevice
from roceproof.conformance.targets.verbs_target import VerbsTarget


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
        device = self._device
        if device is None:
            device = self._plug_in()
            self._device = device
            self._clear(device)
        try:
            yield VerbsTarget(device)
        except BaseException:
            with suppress(DeviceDied):  # what ended the case says more
                self._clear(device)
            raise
        self._clear(device)

    def _clear(self, device: VerbsDevice) -> None:
        """Make the device ready for the next case; nobody is told of one death twice."""
        try:
            if not device.has_died:
                device.clear()
        finally:
            if device.has_died:
                self.close()

    def close(self) -> None:
        """Let go of the device."""
        if self._device is not None:
            self._device.close()
            self._device = None
