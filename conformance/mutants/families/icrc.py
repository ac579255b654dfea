# SPDX-License-Identifier: BSD-2-Clause
"""Transmitters that compute the ICRC wrongly, one for each signature; receivers that misjudge it.

A transmitter sends what the faults of conformance/faults make of its frames; `explain` must
name the fault from the capture of a case that it fails.
"""

from collections import deque

from roceproof.conformance.faults.icrc.catalogue import STATIC, STREAM_FAULTS, engine_of
from roceproof.conformance.faults.icrc.engine import Engine, Outgoing, outgoing
from roceproof.conformance.mutants.frames import bth_of, with_bth
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.rules.signatures import SIGNATURES
from roceproof.conformance.wire import icrc

_ANY = ("ICRC-02", "ICRC-21")
_RULES: dict[str, tuple[str, ...]] = {
    "S05": ("ICRC-02", "ICRC-10"),
    "S08": ("ICRC-02", "ICRC-10"),
    "S10": ("ICRC-03",),
    "S16": ("ICRC-04", "VLAN-01"),
    "S26": ("ICRC-06",),
    "S30": ("ICRC-08",),
    "S31": ("ICRC-07",),
    "S34": ("IP-04",),
    "S38": ("ICRC-09",),
    "S39": ("ICRC-09",),
    "S40": ("ICRC-09",),
    "S48": ("ICRC-03",),
    "S49": ("ICRC-03",),
    "S53": ("ICRC-17",),
    "S54": ("ICRC-17",),
    "S56": ("IP-05", "IP-06", "BTH-08"),
    "S57": ("ICRC-09",),
    "S61": ("ICRC-19",),
    "S62": ("ICRC-01",),
    "S64": ("ICRC-09",),
}
_OF_THEIR_OWN = {"S51", "S59", "S60", "S65"}
"""They take a device that sends MigReq 0, stalls, two packets at once: below and in link.py."""

_RESIDUE = 6  # bytes of the last beat that are got wrong, where it is one number of them


class Sealed(WireFault):
    """What leaves has the ICRC of an engine."""

    engine: Engine

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [self.engine.transmit(time_ns, frame)]


def _plant(fault: str, variant: int, variants: int) -> None:
    class Faulty(Sealed):
        def __init__(self) -> None:
            self.engine = engine_of(fault, variant=variant, stalls=True)
            self.engine.residue = _RESIDUE

    Faulty.__doc__ = f"{SIGNATURES[fault].title}."
    wire_mutant(
        f"icrc-{fault.lower()}" + (f"-{variant + 1}" if variants > 1 else ""),
        expected=_RULES.get(fault, _ANY),
        explained_as=[fault],
    )(Faulty)


for _fault in {*STATIC} - _OF_THEIR_OWN:
    _plant(_fault, 0, 1)
for _fault in STREAM_FAULTS.keys() - _OF_THEIR_OWN:
    _engines = STREAM_FAULTS[_fault].engines
    for _variant in range(len(_engines)):
        _plant(_fault, _variant, len(_engines))


@wire_mutant("icrc-s51", expected=_ANY, explained_as=["S51"])
class MasksMigReq(Sealed):
    """The mask sets MigReq, which this device sends as 0."""

    def __init__(self) -> None:
        self.engine = engine_of("S51")

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return super().sent(with_bth(frame, migreq=False) if bth_of(frame) else frame, time_ns)


@wire_mutant("icrc-s60", expected=_ANY, explained_as=["S60"])
class MixesEngines(WireFault):
    """Results of parallel engines are handed out one turn late: those of another queue pair."""

    _ENGINES = 2

    def __init__(self) -> None:
        self._running: deque[Outgoing] = deque(maxlen=self._ENGINES)

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        out = outgoing(time_ns, frame)
        if out is None:
            return [frame]
        done = self._running[0] if len(self._running) == self._ENGINES else out
        self._running.append(out)
        return [out.with_icrc(done.right if done.flow != out.flow else out.right)]


@wire_mutant("icrc-s65", expected=_ANY, explained_as=["S65"])
class DoublesResult(WireFault):
    """A result is written to the queue twice,
    and every later packet gets that of an earlier one.
    """

    _AFTER = 3

    def __init__(self) -> None:
        self._queue: deque[Outgoing] = deque()
        self._sent = 0

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        out = outgoing(time_ns, frame)
        if out is None:
            return [frame]
        self._sent += 1
        self._queue.extend([out] * (2 if self._sent == self._AFTER else 1))
        return [out.with_icrc(self._queue.popleft().right)]


@wire_mutant("icrc-of-first-sending", expected=["ICRC-16"], explained_as=["S55"])
class KeepsIcrc(WireFault):
    """A packet is kept with its ICRC and sent again with that, though its ID has moved on."""

    def __init__(self) -> None:
        self._kept: dict[bytes, bytes] = {}

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        out = outgoing(time_ns, frame)
        if out is None:
            return [frame]
        return [out.with_icrc(self._kept.setdefault(frame[out.bth : out.body_end], out.right))]


class Judge(WireFault):
    """A receiver that takes some packets with a wrong ICRC for right ones."""

    def is_fine(self, out: Outgoing) -> bool:
        """Whether it takes this packet, whose ICRC is wrong."""
        raise NotImplementedError

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        """What it takes gets the right ICRC."""
        out = outgoing(time_ns, frame)
        is_wrong = out is not None and icrc.check(frame).judgement is icrc.Judgement.BAD
        return [icrc.reseal(frame) if out and is_wrong and self.is_fine(out) else frame]


@wire_mutant(
    "icrc-not-checked", expected=["ICRC-07", "ICRC-11", "ICRC-12", "ICRC-14", "ICRC-15", "ICRC-20"]
)
class NotChecked(Judge):
    """The receiver does not look at the ICRC."""

    def is_fine(self, out: Outgoing) -> bool:
        return True


@wire_mutant("icrc-received-ackreq-masked", expected=["ICRC-11"])
class AckReqMasked(Judge):
    """The receiver masks BTH byte 8, AckReq, as if it were one that may change."""

    def is_fine(self, out: Outgoing) -> bool:
        found = out.frame[out.body_end : out.layout.end]
        at = out.bth + 8
        return any(out.right_over({at: bytes([value])}) == found for value in range(256))


@wire_mutant("icrc-received-lane-not-wired", expected=["ICRC-12"])
class LaneNotWired(Judge):
    """Byte lane 2 of the receive bus does not reach the CRC."""

    _WIDTH, _LANE = 8, 2

    def is_fine(self, out: Outgoing) -> bool:
        found = out.frame[out.body_end : out.layout.end]
        first = out.layout.ip + (self._LANE - out.layout.ip) % self._WIDTH
        return any(
            out.right_over({at: bytes([out.frame[at] ^ 1 << bit])}) == found
            for at in range(first, out.body_end, self._WIDTH)
            for bit in range(8)
        )


@wire_mutant("icrc-received-unmasked-accepted", expected=["ICRC-20", "ICRC-21"])
class UnmaskedAccepted(Judge):
    """The receiver takes the residue over the raw headers, too:
    that is what its own sender sends.
    """

    def __init__(self) -> None:
        self._own = engine_of("S06")

    def is_fine(self, out: Outgoing) -> bool:
        return self._own.value(out) == out.frame[out.body_end : out.layout.end]


@wire_mutant("icrc-received-byte-4-unmasked", expected=["ICRC-13"])
class Byte4Unmasked(WireFault):
    """The receiver's CRC sees BTH byte 4 as it comes: right until a switch marks a packet."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        return [] if bth is not None and (bth.fecn or bth.becn or bth.reserved6) else [frame]
