# SPDX-License-Identifier: BSD-2-Clause
"""Keeps one device warm from case to case, and replaces it when a case has killed it.

A case ends with a device that is empty and answers; one that does not died of that
case, and the case is told. The next case then gets a fresh device.
"""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import (
    CasePlace,
    DeviceDied,
    DeviceFactory,
    Patience,
    Target,
)
from roceproof.conformance.targets.verbs.device import VerbsDevice
from roceproof.conformance.targets.verbs.target import VerbsTarget

PATIENCE = Patience(answer_ns=2_000_000_000, quiet_ns=60_000_000, grain_ns=5_000_000)
HASTY = PATIENCE._replace(quiet_ns=10_000_000)
"""Accuses nobody: who fails so is looked at again."""

VERBS_CAPABILITIES = frozenset(
    {
        Capability.REQUESTER,
        Capability.RESPONDER,
        Capability.RC,
        Capability.UC,
        Capability.UD,
        Capability.SEND,
        Capability.SEND_IMM,
        Capability.SEND_INV,
        Capability.WRITE,
        Capability.WRITE_IMM,
        Capability.READ,
        Capability.ATOMIC,
        Capability.RETRANSMISSION,
        Capability.STATES,
        Capability.RESET,
        Capability.MEMORY,
        Capability.COUNTERS,
        Capability.SHARED_RECEIVE,
        Capability.ALIGNMENT,
        Capability.PING,
        Capability.IPV6,
        Capability.CM,
    }
)
ABSENT_FROM_VERBS = {
    Capability.INVALIDATE: "the agent's memory has keys that only their owner invalidates",
    Capability.FLUSH: "the verbs agent posts neither",
    Capability.LOCKSTEP: "a kernel runs on the wall's clock",
    Capability.MSN_PRESET: "verbs cannot say an MSN, and 2^24 messages take an hour",
    Capability.DISTURBANCE: "a kernel has no streams to stall",
}


class VerbsFactory(DeviceFactory):
    """A source of targets that share a device, one after the other."""

    def __init__(self) -> None:
        self._device: VerbsDevice | None = None

    @abstractmethod
    def _plug_in(self) -> VerbsDevice:
        """A device, started or reached anew."""

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        device = self._device
        if device is None:
            device = self._plug_in()
            self._device = device
            self._clear(device)
        try:
            yield VerbsTarget(device, patience=HASTY if place.is_hasty else device.patience)
        except KeyboardInterrupt:
            self.close()
            raise
        except AssertionError:  # of a device that has died nothing comes, which says less
            self._clear(device)
            raise
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
        if self._device is not None:
            self._device.close()
            self._device = None
