# SPDX-License-Identifier: BSD-2-Clause
"""How long a device may need to heed what it is sent, under the disturbance of the moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from roceproof.conformance.targets.interface import AROUND_PAYLOAD

STREAMS = ("tx_stall", "rx_gap", "payload_gap", "qpc_gap", "wr_gap", "cpl_stall")
_NS_PER_BYTE = 0.8  # at 10 Gbit/s
_REACTION_NS = 3_000
_COMPLETIONS_IN_FRONT, _NS_PER_COMPLETION = 64, 7
_FRAMES_IN_FRONT = 16


@dataclass
class Pace:
    """What has been sent to the device and may still be on its way."""

    ns_per_byte: float = _NS_PER_BYTE
    stalls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STREAMS, 0))
    longest_frame: int = 64
    reaction_ns: int = _REACTION_NS
    grain_ns: int = 0
    """So much later than it began to leave a frame may be seen."""
    _free_ns: float = 0
    _slowest: float = 2
    _withheld: float = 0
    _left_ns: int = 0

    @classmethod
    def of(cls, clock_ps: int | None, data_width: int | None) -> Self:
        """For a device with such streams; those that are wide may be as slow as others."""
        if clock_ps is None or data_width is None:
            return cls()
        return cls(max(_NS_PER_BYTE, clock_ps * 8 / data_width / 1000))

    def disturb(self, percent: Mapping[str, int]) -> None:
        """Streams are held back, those that are not named no more."""
        self.stalls = dict.fromkeys(STREAMS, 0) | dict(percent)
        self._slowest = max(self._slowest, self._stretch("tx_stall"))
        if self.stalls["payload_gap"]:
            self._withheld = max(self._withheld, self._stretch("payload_gap"))

    def posts(self, path_mtu: int) -> None:
        """Work was posted whose packets may be that long."""
        self.longest_frame = max(self.longest_frame, path_mtu)

    def sent(self, size: int, now_ns: int) -> None:
        """A frame was handed to the device."""
        busy = size * self.ns_per_byte * self._stretch("rx_gap")
        self._free_ns = max(self._free_ns, now_ns) + busy

    def begun_ns(self, size: int, left_ns: int) -> int:
        """When a frame can have begun to leave the queue pairs that has left by then.

        It left behind the one before; a MAC that stores frames had it while that one left.
        """
        before, self._left_ns = self._left_ns, left_ns
        stored = (self.longest_frame + AROUND_PAYLOAD) * self.ns_per_byte
        began = max(before, left_ns - size * self.ns_per_byte * self._slowest) - stored
        return int(began) - self.grain_ns

    def waits_ns(self, now_ns: int) -> int:
        """For how long the wire to the device may still carry what was sent."""
        return max(0, int(self._free_ns - now_ns))

    def is_busy(self, now_ns: int) -> bool:
        """Whether it does."""
        return self.waits_ns(now_ns) > 0

    def lag_ns(self, now_ns: int) -> int:
        """By then after now all that was sent has taken effect, if the device is healthy."""
        waiting = self.waits_ns(now_ns)
        completions = _COMPLETIONS_IN_FRONT * _NS_PER_COMPLETION * self._stretch("cpl_stall")
        frame = self.longest_frame * self.ns_per_byte * self._stretch("tx_stall")
        return int(waiting + completions + _FRAMES_IN_FRONT * frame + self.reaction_ns)

    def stops_ns(self) -> int:
        """For how long frames that have begun may leave when the link pauses."""
        return int(2 * self.longest_frame * self.ns_per_byte * self._stretch("tx_stall"))

    def withheld_ns(self) -> int:
        """For how long the device may have been at two frames whose payload was held back."""
        return int(2 * self.longest_frame * self.ns_per_byte * self._withheld)

    def _stretch(self, stream: str) -> float:
        return 200 / (100 - self.stalls[stream])
