# SPDX-License-Identifier: BSD-2-Clause
"""A device that loses what comes right behind a frame of others is found, and so is the frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from roceproof.conformance.cases import test_neighbours as cases
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory

Loses = Callable[[bytes], bool]


class LosesTheNext(ForwardingTarget):
    """What comes right behind some frames never arrives."""

    loses: Loses
    _is_deaf = False

    def send(self, frame: bytes) -> None:
        """Hand it on, or lose it."""
        is_deaf, self._is_deaf = self._is_deaf, self.loses(frame)
        if not is_deaf:
            super().send(frame)


def run(case: Callable[..., None], *arguments: object, loses: Loses) -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="neighbours", seed=1)) as target:
        lossy = LosesTheNext(target)
        lossy.loses = loses  # type: ignore[method-assign]
        case(Bench(lossy, source.claims, seed=1), *arguments)


class Alters(ForwardingTarget):
    """Frames arrive otherwise than they were sent, or not at all."""

    altered: Callable[[bytes], bytes | None]

    def send(self, frame: bytes) -> None:
        """Hand on what is made of it."""
        if (made := self.altered(frame)) is not None:
            super().send(made)


def run_altered(case: Callable[..., None], altered: Callable[[bytes], bytes | None]) -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="neighbours", seed=1)) as target:
        device = Alters(target)
        device.altered = altered  # type: ignore[method-assign]
        case(Bench(device, replace(source.claims, path_mtus=(1024,)), seed=1))


def is_tagged(frame: bytes) -> bool:
    return frame[12:14] == b"\x81\0"


def is_priority_of_63(frame: bytes) -> bool:
    return is_tagged(frame) and not frame[15] and len(frame) == 63


@pytest.mark.parametrize("loses", [is_tagged, is_priority_of_63])
@pytest.mark.parametrize(
    ("case", "missing"),
    [
        (cases.test_arp_and_ping_behind_any_frame_are_answered, "no answer to an ARP request"),
        (cases.test_an_ack_behind_any_frame_is_taken, "got   nothing"),
        (cases.test_a_request_behind_any_frame_is_served, "got   nothing in time"),
    ],
)
def test_what_is_lost_behind_a_tagged_frame_is_missed(
    case: Callable[..., None], missing: str, loses: Loses
) -> None:
    with pytest.raises(CaseFailed, match=missing):
        run(case, cases.PRIORITY, loses=loses)
    run(case, None, loses=loses)


def test_the_frame_in_front_is_told() -> None:
    with pytest.raises(CaseFailed, match=r"right behind 63 bytes, .*8100a000") as failed:
        run(
            cases.test_arp_and_ping_behind_any_frame_are_answered,
            cases.PRIORITY,
            loses=is_priority_of_63,
        )
    assert failed.value.rules == ("LIVE-01",)


def test_a_ping_that_hides_the_next_is_found() -> None:
    with pytest.raises(CaseFailed, match="no answer to an echo request with 32 bytes of data"):
        run(
            cases.test_pings_of_kilobytes_are_answered_or_leave_no_trace,
            loses=lambda frame: len(frame) > 5000,
        )


def test_a_ping_over_ipv6_that_fits_no_path_mtu_may_be_dropped() -> None:
    case = cases.test_pings_of_every_length_over_ipv6_are_answered
    run_altered(case, lambda frame: frame if len(frame) <= 14 + 1024 else None)
    with pytest.raises(CaseFailed, match="0 answers to an echo request with 976 bytes of data"):
        run_altered(case, lambda frame: frame if len(frame) < 14 + 1024 else None)


def test_the_frame_that_drew_an_answer_over_ipv6_is_told() -> None:
    def with_hops_of_a_link(frame: bytes) -> bytes:
        is_far = frame[54] == cases.ND_SOLICITATION and frame[21] == 64
        return cases.with_hops(frame, cases.ND_HOPS) if is_far else frame

    told = r"asked: \w+ to frame 2 of \d+, a solicitation with hop limit 64\n"
    with pytest.raises(CaseFailed, match=told) as failed:
        run_altered(
            cases.test_what_asks_a_host_for_nothing_over_ipv6_draws_nothing, with_hops_of_a_link
        )
    assert failed.value.rules == ("LIVE-03",)
