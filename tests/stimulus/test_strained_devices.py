# SPDX-License-Identifier: BSD-2-Clause
"""What plans strain devices with finds each of these faults, and nothing in a healthy device."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from random_devices import opener

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import Arrival, Target
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.codec import parse
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.work import Outcome

START = 0x5A5A5A
DMALEN_AT = 8 + 12 + 12
ARP, IP_VERSION_AT, PSN_AT, TARGET_AT = b"\x08\x06", 14, 8 + 9, 38
TTL_AT, KIND_AT = 8, 34


class Healthy(ForwardingTarget):
    """As it is."""


class SixteenBitLengths(ForwardingTarget):
    """Says only the low bits of a length."""

    def receive(self, timeout_ns: int) -> Arrival | None:
        """A frame, whose length may have lost something."""
        arrival = super().receive(timeout_ns)
        packet = parse(arrival.frame) if arrival else None
        if arrival is None or packet is None or packet.reth is None:
            return arrival
        frame = bytearray(arrival.frame)
        edits.set_udp(DMALEN_AT, bytes(2))(frame)
        edits.reseal(frame)
        return arrival._replace(frame=bytes(frame))


class Hears(ForwardingTarget):
    """Hears something else than what was said."""

    def send(self, frame: bytes) -> None:
        """What it takes the frame for."""
        super().send(bytes(self.heard(bytearray(frame))))

    def heard(self, frame: bytearray) -> bytearray:
        """The frame, changed."""
        raise NotImplementedError


class AnyVersion(Hears):
    """Does not look at the version of IP."""

    def heard(self, frame: bytearray) -> bytearray:
        """As version 4."""
        if frame[12:14] == b"\x08\x00":
            frame[IP_VERSION_AT] = 0x45
            edits.fix_ip_checksum(frame)
        return frame


class TwentyBitPsns(Hears):
    """Compares PSNs without their four highest bits."""

    def heard(self, frame: bytearray) -> bytearray:
        """With those that were configured."""
        if parse(bytes(frame)) is not None:
            at = edits.layout_of(frame).udp + PSN_AT
            frame[at] = START >> 16 & 0xF0 | frame[at] & 0xF
            edits.reseal(frame)
        return frame


class DeafForAMoment(ForwardingTarget):
    """Does not hear the second answer."""

    _heard = 0

    def send(self, frame: bytes) -> None:
        """All but that."""
        self._heard += parse(frame) is not None
        if self._heard != 2:
            super().send(frame)


class StandsStill(ForwardingTarget):
    """Says nothing any more once two frames have left it."""

    _left = 0

    def receive(self, timeout_ns: int) -> Arrival | None:
        """The first two."""
        arrival = super().receive(timeout_ns)
        self._left += arrival is not None
        return arrival if self._left <= 2 else None

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        """None."""
        super().completions(qp, count=count, timeout_ns=timeout_ns)
        return []


class AnybodysAddress(Hears):
    """Answers whoever is asked for."""

    def heard(self, frame: bytearray) -> bytearray:
        """A question after itself."""
        if frame[12:14] == ARP:
            frame[TARGET_AT : TARGET_AT + 4] = self.host.ip
        return frame


class Hopless(ForwardingTarget):
    """Its answers cannot leave the subnet, and not even enter it."""

    def asides(self) -> list[bytes]:
        """Each with a TTL of 0."""
        changed = [bytearray(frame) for frame in super().asides()]
        for frame in changed:
            frame[14 + TTL_AT] = 0
            edits.fix_ip_checksum(frame)
        return [bytes(frame) for frame in changed]


class WrongNumbers(ForwardingTarget):
    """Each message completes again on another queue pair."""

    def stray_completions(self) -> list[Outcome]:
        """All that it is asked to tell."""
        return [Outcome(wr_id=1, status="success")]


class DeadForGood(ForwardingTarget):
    """What has failed does not start anew."""

    def restart(self, qp: Qp, spec: QpSpec) -> Qp:
        """Nothing happens."""
        return Qp(qp.qpn, spec)


def outstanding(play: Play) -> None:
    """Two messages have left, nobody has answered."""
    play.connect(0, service="RC", sq_psn=START)
    play.post(0, "WRITE", 8, count=2)
    play.until(2)


def endless(play: Play) -> None:
    play.connect(0, service="UC")
    play.endless(0, "WRITE", 0x1234567, frames=3)


def salvo(play: Play) -> None:
    outstanding(play)
    play.salvo(0, [("icrc", 3), ("version", 2), ("header", 9), ("ether", 1)])


def flipped(play: Play) -> None:
    outstanding(play)
    play.answer(0, share=500, flip=22, syndrome=3)


def answered_behind_another(play: Play) -> None:
    """The first answer means nothing, so the second one must count."""
    outstanding(play)
    play.answer(0, ahead=3)
    play.answer(0, oldest=0)


def asked_for_others(play: Play) -> None:
    play.foreign("arp_near", count=3)


def asked(play: Play) -> None:
    play.ask(30, ttl=99, total=0xF800, count=2, apart=3000)


def asked_at_length(play: Play) -> None:
    """The last of them is answered, too, long behind the first."""
    play.ask(8161, count=4)
    play.settle()
    play.foreign("arp_near")


def failed(play: Play) -> None:
    outstanding(play)
    play.answer(0, oldest=0, syndrome=0x62)


def worn(play: Play) -> None:
    play.connect(0, service="RC")
    play.wear(0, times=5)


class Strain(NamedTuple):
    """A device, and what its fault shows in."""

    device: type[Target]
    plan: Callable[[Play], None]


STRAINS = [
    Strain(SixteenBitLengths, endless),
    Strain(AnyVersion, salvo),
    Strain(TwentyBitPsns, flipped),
    Strain(DeafForAMoment, answered_behind_another),
    Strain(StandsStill, outstanding),
    Strain(AnybodysAddress, asked_for_others),
    Strain(AnybodysAddress, asked_at_length),
    Strain(Hopless, asked),
    Strain(WrongNumbers, outstanding),
    Strain(DeadForGood, failed),
    Strain(DeadForGood, worn),
]


@pytest.mark.sim
@pytest.mark.parametrize("strain", STRAINS, ids=lambda s: f"{s.device.__name__}-{s.plan.__name__}")
def test_a_fault_shows_where_its_part_is_strained(strain: Strain) -> None:
    play_on(Healthy, strain.plan)
    with pytest.raises(CaseFailed):
        play_on(strain.device, strain.plan)


def play_on(device: Callable[[Target], Target], plan: Callable[[Play], None]) -> None:
    factory = HdlFactory(load_manifest(REFERENCE_DUT), data_width=64)
    with opener(factory, device)(1, None) as bench:
        play = Play(bench)
        plan(play)
        play.finish()
