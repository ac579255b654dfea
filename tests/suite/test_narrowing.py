# SPDX-License-Identifier: BSD-2-Clause
"""Which rules a case accuses beside those of what stopped it: of the one thing without which plain
messages go on, of a frame that came unread, of the field that is wrong. Nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from test_blame import acknowledged, bench_of, blamed

from roceproof.conformance.mutants.frames import request_of, with_bth
from roceproof.conformance.mutants.wire import WireFault, WireMutant
from roceproof.conformance.runner.attribution.control import (
    Controls,
    Message,
    Outcome,
    Pair,
    Skeleton,
)
from roceproof.conformance.runner.attribution.first_difference import first_difference
from roceproof.conformance.runner.attribution.narrowing import cause_of
from roceproof.conformance.runner.findings.root import Root
from roceproof.conformance.runner.findings.root_findings import roots
from roceproof.conformance.runner.findings.words.documents import documents
from roceproof.conformance.runner.judging.scoreboard import judgement
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import parse
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

TTL_AT = 22


class HeedsAcksOfTheFullTtl(WireFault):
    """The receiver's ICRC sees the TTL as it is."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        is_ack = packet is not None and packet.aeth is not None
        return [] if is_ack and frame[TTL_AT] != 0xFF else [frame]


class Fake:
    """Controls of a device that is told in one expression: when, and at what, it stops."""

    def __init__(self, stops: Callable[[Skeleton], Kind | None]) -> None:
        self._stops = stops

    def of(self, skeleton: Skeleton) -> Outcome:
        kind = self._stops(skeleton)
        message = cast("Any", type("Message", (), {"ordinal": 1}))
        stop = None if kind is None else Stop(kind, message=message)
        has_sent = kind is not Kind.NO_PACKET or any(p.is_ipv6 for p in skeleton.pairs)
        return Outcome(None if kind is None else CaseFailed("", stop=stop), has_sent=has_sent)


def found(stops: Callable[[Skeleton], Kind | None], *mtus: int, size: int = 5) -> tuple[str, ...]:
    """What is accused for that message on the last of queue pairs of these path MTUs."""
    pairs = tuple(Pair(Service.RC, mtu, is_ipv6=False) for mtu in mtus or (256,))
    skeleton = Skeleton(pairs, len(pairs) - 1, (Message(Op.WRITE, size, 0),))
    cause = cause_of(cast("Controls", Fake(stops)), skeleton)
    return cause.rules if cause is not None else ()


@pytest.mark.parametrize(
    ("stops", "size", "rules"),
    [
        (lambda s: None if s.pairs[0].is_ipv6 else Kind.NO_PACKET, 5, ("GID-01",)),
        (lambda s: None if s.messages[0].size else Kind.NO_PACKET, 0, ("MTU-04",)),
        (
            lambda s: None if dict(s.answer).get("tos") == 0xFF else Kind.NO_COMPLETION,
            5,
            ("IP-09", "ICRC-13"),
        ),
        (lambda s: None if "becn" in dict(s.answer) else Kind.NO_COMPLETION, 5, ("ICRC-13",)),
        (lambda _: Kind.NO_PACKET, 5, ()),
        (lambda _: Kind.NO_COMPLETION, 0, ()),
        (lambda s: None if s.messages[0].size == 8 else Kind.NO_PACKET, 5, ()),
    ],
    ids=["ipv4", "empty", "tos", "byte 4", "mute", "deaf", "length"],
)
def test_the_one_thing_without_which_it_goes_on_is_accused(
    stops: Callable[[Skeleton], Kind | None], size: int, rules: tuple[str, ...]
) -> None:
    assert found(stops, size=size) == rules


def test_queue_pairs_that_are_right_at_one_path_mtu_alone_break_that_each_has_its_own() -> None:
    def stops(skeleton: Skeleton) -> Kind | None:
        return Kind.NO_PACKET if len({pair.path_mtu for pair in skeleton.pairs}) > 1 else None

    assert found(stops, 4096, 256) == ("MTU-05",)
    assert found(lambda _: Kind.NO_PACKET, 4096, 256) == ()


def test_a_receiver_that_masks_no_ttl_is_told_by_that_and_not_as_one_that_heeds_no_ack() -> None:
    told = blamed(HeedsAcksOfTheFullTtl, acknowledged, "PSN-01")
    assert told.broken == ("IP-09", "ICRC-13", "ACK-08")
    assert told.not_reached is not None
    assert "an ACK with the TTL all ones completes it" in told.not_reached
    assert blamed(HeedsAcksOfTheFullTtl, acknowledged, "IP-09").not_reached is None


def test_what_is_true_of_all_cases_is_told_with_its_cause() -> None:
    beats = [1]
    seen = {
        "rows": [],
        "values": {},
        "stop": {"kind": str(Kind.NO_COMPLETION), "cause": ["why", ["ICRC-13"]]},
        "standing": {"qpc": beats, "wr": beats, "left": beats, "tx": beats, "cpl": [0]},
    }
    case = {"case": "one", "outcome": "failed", "broken": ["ICRC-13", "ACK-08"]}
    (root,) = roots({"one": case}, {"one": seen})
    assert root.says == "frames left, and no work was ever completed: cpl_valid_o is low; why"
    assert root.rules == {"ICRC-13"}


def another_byte(at: int, value: int) -> type[WireFault]:
    class Fault(WireFault):
        """A byte of all requests is another."""

        def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
            changed = bytearray(frame)
            changed[at] = value
            return [frame if parse(frame) is None else bytes(changed)]

    return Fault


@pytest.mark.parametrize(
    ("at", "value", "words", "rule"),
    [
        (14, 0x46, "an IPv4 header of 6 words", "IP-01"),
        (12, 0x88, "the EtherType 0x8800", "ETH-01"),
        (23, 6, "the IP protocol 6", "ETH-01"),
        (21, 1, "the fragment offset 1", "IP-03"),
        (37, 0, "the UDP port 4608", "UDP-01"),
    ],
)
def test_a_frame_that_is_no_rocev2_by_one_field_accuses_that(
    at: int, value: int, words: str, rule: str
) -> None:
    told = blamed(another_byte(at, value), acknowledged, "PSN-01")
    assert told.broken[0] == rule
    assert told.not_reached is not None
    assert f"a frame came for it with {words}" in told.not_reached
    assert blamed(another_byte(at, value), acknowledged, rule).not_reached is None


class GarblesTheSecond(WireFault):
    """Bytes of payload overwrite the Ethernet header of one packet."""

    def __init__(self) -> None:
        self._count = 0

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        self._count += request_of(frame) is not None
        is_it = self._count == 2 and request_of(frame) is not None
        return [frame[:8] + b"\x99" * 8 + frame[16:] if is_it else frame]


def test_a_packet_that_nobody_can_read_is_told_and_not_that_a_number_is_left_out() -> None:
    with bench_of(WireMutant("fault", "", (), (), make=GarblesTheSecond)) as (bench, _):
        qp = bench.connect(path_mtu=256)
        message = qp.post(Op.WRITE, 3 * 256)
        with pytest.raises(CaseFailed) as failed:
            qp.expect(message.packets[0], message.packets[2].but(psn=1))
        assert first_difference(bench, failed.value, failed.value.stop) == ("ETH-01",)
        failures = judgement(bench).failures
    assert [failure.rules for failure in failures] == [("ETH-01",)]
    assert "a packet is missing, and a frame came with the EtherType 0x9999" in str(failures[0])


class CountsByTwo(WireFault):
    """The PSN of each packet behind the first of a queue pair is one too high."""

    def __init__(self) -> None:
        self._has_sent = False

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        if bth is None:
            return [frame]
        moved, self._has_sent = self._has_sent, True
        return [with_bth(frame, psn=bth.psn + 1)] if moved else [frame]


def two_messages(bench: Bench) -> None:
    qp = bench.connect()
    qp.transfer(Op.WRITE, 8)
    qp.transfer(Op.WRITE, 8)


def test_a_case_about_psns_is_reached_by_a_wrong_one_behind_its_first_packet() -> None:
    told = blamed(CountsByTwo, two_messages, "PSN-04")
    assert told.broken == ("PSN-02", "PSN-04")
    assert told.not_reached is None
    other = blamed(CountsByTwo, two_messages, "MTU-04")
    assert other.broken == ("PSN-02",)
    assert other.not_reached is not None


@pytest.mark.parametrize("service", Service)
@pytest.mark.parametrize("size", [0, 5, 256])
def test_plain_messages_of_a_healthy_device_do_not_stop(service: Service, size: int) -> None:
    skeleton = Skeleton((Pair(service, 256, is_ipv6=False),), 0, (Message(Op.SEND, size, 0),))
    assert Controls(ModelFactory()).of(skeleton).is_fine


def test_a_finding_accuses_first_what_plain_messages_go_on_without() -> None:
    told = {"kind": str(Kind.NO_COMPLETION), "cause": ["why", ["ICRC-13"]]}
    seen = {name: {"rows": [], "values": {}, "stop": told} for name in "abc"}
    cases = {
        name: {"case": name, "outcome": "failed", "broken": ["ACK-08", "ICRC-13"]} for name in seen
    }
    root = Root([str(Kind.NO_COMPLETION)], set(cases))
    (finding,) = documents([root], cases, seen)
    assert finding["rules"] == ["ICRC-13"]
