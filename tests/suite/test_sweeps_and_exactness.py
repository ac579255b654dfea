# SPDX-License-Identifier: BSD-2-Clause
"""Checks of whole frames and of many variants: each finds its fault, and names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from roceproof.conformance.faults.icrc.catalogue import engine_of
from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.families.icrc import Sealed
from roceproof.conformance.mutants.families.ip_udp import BeforeIcrc, UdpLengthWithoutIcrc
from roceproof.conformance.mutants.families.ip_udp_received import ChecksumIgnored
from roceproof.conformance.mutants.families.link import NotPadded, TailOfThePacketBefore
from roceproof.conformance.mutants.frames import with_stale_pad
from roceproof.conformance.mutants.wire import WireFault, WireMutant
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.frame_integrity import frames_are_exact, icrcs_are_right
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.sweep import (
    FIRST_ACK,
    bit_flips,
    completes_with_each,
    ignores_each,
)
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import bad_icrc, flip_ip, flip_udp
from roceproof.verbs.work import Op


class IcrcOfZeros(Sealed):
    engine = engine_of("S46")


@contextmanager
def bench_of(fault: type[WireFault] = WireFault, *, qps: int = 1) -> Iterator[Bench]:
    """A bench whose device has this fault, or none."""
    source = CorruptingFactory(ModelFactory(), WireMutant("fault", "", (), (), make=fault))
    with source.device(CasePlace(name="test", seed=1)) as target:
        yield Bench(target, replace(source.claims, qps=qps), seed=1)


def send(bench: Bench, *lengths: int) -> None:
    """Messages of these lengths, whatever becomes of them."""
    qp = bench.connect()
    qp.serve()
    for length in lengths:
        qp.post(Op.SEND, length)
    bench.settle()


def test_what_a_healthy_device_sends_is_exact_and_sealed() -> None:
    with bench_of() as bench:
        send(bench, 0, 1, 700)
        assert len(bench.frames_sent()) == 5
        frames_are_exact(bench)
        icrcs_are_right(bench)


@pytest.mark.parametrize(
    ("fault", "frame", "at"),
    [(TailOfThePacketBefore, 1, 55), (NotPadded, 2, 58), (BeforeIcrc, 0, 25)],
)
def test_a_frame_that_is_not_exact_is_shown_with_its_place(
    fault: type[WireFault], frame: int, at: int
) -> None:
    with bench_of(fault) as bench:
        send(bench, 16, 1, 0)
        with pytest.raises(
            CaseFailed, match=f"frame {frame} of the device is wrong from byte {at}"
        ):
            frames_are_exact(bench)


class StalePads(WireFault):
    """Pads are not zero, and a frame without payload lacks its last byte."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        assert packet is not None
        return [with_stale_pad(frame, packet.bth.pad_count) if packet.payload else frame[:-1]]


def test_only_what_no_must_asks_for_is_no_other_rules_and_hides_no_other_frame() -> None:
    with bench_of(StalePads, qps=2) as bench:
        send(bench, 1)
        with pytest.raises(CaseFailed, match="pad bytes") as caught:
            frames_are_exact(bench)
        assert caught.value.rules == ("PAD-02",)
        send(bench, 0)
        with pytest.raises(CaseFailed, match="frame 1 of the device is wrong") as caught:
            frames_are_exact(bench)
        assert not caught.value.rules


def test_a_wrong_icrc_is_shown_beside_the_right_one() -> None:
    with bench_of(IcrcOfZeros) as bench:
        send(bench, 16)
        with pytest.raises(CaseFailed, match=r"icrc: want [0-9a-f]{8}, got 0{8}"):
            icrcs_are_right(bench)


def test_a_frame_without_place_for_an_icrc_has_none() -> None:
    with bench_of(UdpLengthWithoutIcrc) as bench:
        send(bench, 16)
        with pytest.raises(CaseFailed, match="want one, got malformed"):
            icrcs_are_right(bench)


def test_a_healthy_requester_ignores_every_flipped_bit_but_masked_ones() -> None:
    with bench_of() as bench:
        ignores_each(bench, bit_flips(FIRST_ACK, flip_udp, range(8, 12)))
    with bench_of() as bench:
        qp = bench.connect()
        completes_with_each(qp, bit_flips(FIRST_ACK, flip_udp, [12]).values())
        with pytest.raises(CaseFailed, match="want  work"):
            completes_with_each(qp, [FIRST_ACK.corrupted(bad_icrc())])


def test_a_sweep_names_the_variant_that_was_not_ignored() -> None:
    with bench_of(ChecksumIgnored) as bench:
        variants = {"harmless": FIRST_ACK.corrupted(bad_icrc())}
        variants |= bit_flips(FIRST_ACK, flip_ip, [10])
        with pytest.raises(CaseFailed, match="not dropped: byte 10 bit 0 flipped"):
            ignores_each(bench, variants)


def test_a_sweep_of_more_variants_than_queue_pairs_still_fails() -> None:
    with bench_of(ChecksumIgnored) as bench:
        harmless = bit_flips(FIRST_ACK, flip_udp, range(8, 12))
        assert len(harmless) > bench.claims.qps == 1
        last = FIRST_ACK.corrupted(flip_ip(10, 1))
        with pytest.raises(CaseFailed, match="not dropped: the last"):
            ignores_each(bench, {**harmless, "the last": last})
