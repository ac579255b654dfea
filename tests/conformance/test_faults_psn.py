# SPDX-License-Identifier: BSD-2-Clause
"""PSN faults: what each planted fault does to the wire, and that it does nothing else."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from psn_streams import MASK, Seen, is_read, messages, on_uc, planted, streams

from roceproof.conformance.faults.conversation.plan import Kind
from roceproof.conformance.faults.conversation.traffic import Capture, Conversation
from roceproof.conformance.faults.psn.counting import ahead as distance
from roceproof.conformance.faults.psn_catalogue import PSN_FAULTS, captures, healthy
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.observer.facts import Facts
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.opcodes import Position
from roceproof.verbs.service import Service

VARIANTS = [(row.id, v) for row in PSN_FAULTS.values() for v in range(len(row.variants))]
ANSWERS = ("ACK-", "AETH-", "DUP-", "MSN-", "NAK-", "READ-")
every_variant = pytest.mark.parametrize(("fault", "variant"), VARIANTS)


def broken_rules_by_source(capture: Capture) -> list[tuple[bytes, str]]:
    checker = Checker(Facts.from_json(capture.facts))
    findings = [finding for _, frame in capture.frames for finding in checker.feed(frame)]
    findings += checker.finish()
    return [(capture.frames[f.frame - 1].frame[6:12], f.rule.id) for f in findings]


@cache
def played(fault: str, variant: int) -> list[Capture]:
    return captures(fault, Conversation(seed=variant + 2), variant=variant)


def test_rows_are_p01_to_p25() -> None:
    assert list(PSN_FAULTS) == [f"P{n:02}" for n in range(1, 26)]


@pytest.mark.sampled(every=5)
@every_variant
def test_only_psns_are_touched_and_the_last_run_shows_it(fault: str, variant: int) -> None:
    right = healthy(fault, Conversation(seed=variant + 2), variant=variant)
    *before, last = played(fault, variant)
    assert all(capture == right for capture in before)
    assert last.frames != right.frames and last.facts == right.facts
    for _, frame in last.frames:
        packet = parse(frame)
        assert packet is not None
        if fault != "P21":
            assert build(packet) == frame
            assert icrc.check(frame).judgement is icrc.Judgement.OK


@pytest.mark.sampled(every=3)
@every_variant
def test_the_peer_of_a_faulty_station_stays_correct(fault: str, variant: int) -> None:
    (*_, last) = played(fault, variant)
    peer = Conversation(seed=variant + 2).stations[1].mac
    wrong = {rule for source, rule in broken_rules_by_source(last) if source == peer}
    planted_icrc = {"ICRC-02", "ICRC-03"} if fault == "P21" else set()
    # Answers are judged against requests, which are what is wrong here.
    assert {rule for rule in wrong if not rule.startswith(ANSWERS)} <= planted_icrc


@pytest.mark.parametrize(("variant", "off"), [(0, 1), (1, -1)])
def test_p02_moves_the_first_psn_by_one(variant: int, off: int) -> None:
    for stream in planted("P02", variant):
        assert stream.requests[0].psn == (stream.facts["start_psn"] + off) & MASK  # type: ignore[operator]


def test_p01_starts_with_the_other_directions_psn() -> None:
    for stream in planted("P01"):
        assert stream.requests[0].psn == stream.facts["remote_start_psn"]


def test_p02_one_too_high_is_refused_at_the_right_start() -> None:
    refusals = [s.responses[0] for s in planted("P02") if s.facts["service"] == "RC"]
    starts = [s.facts["start_psn"] for s in planted("P02") if s.facts["service"] == "RC"]
    assert [r.psn for r in refusals] == starts
    assert {r.packet.aeth.syndrome for r in refusals if r.packet.aeth} == {0x60}


def test_p03_counts_messages() -> None:
    for stream in on_uc("P03"):
        assert all(step == int(seen.closes) for seen, step in stream.steps)


def test_p04_never_touches_the_upper_byte() -> None:
    for stream in on_uc("P04"):
        assert len({seen.psn >> 16 for seen in stream.requests}) == 1
        assert all((b.psn - a.psn) & 0xFFFF == 1 for a, b in pairwise(stream.requests))


def test_p05_carries_into_the_byte_above() -> None:
    for stream in on_uc("P05"):
        start = stream.facts["start_psn"]
        for number, seen in enumerate(stream.requests):
            assert seen.packet.bth.reserved7 == (start + number) >> 24  # type: ignore[operator]
        assert stream.requests[-1].packet.bth.reserved7 == 1


def test_p06_loses_a_psn_for_each_response_that_arrives() -> None:
    gaps = 0
    for stream in planted("P06", kinds=(Kind.WRITE,)):
        limit = next((r.index for r in stream.responses if refused(r)), 1 << 30)
        for one, two in pairwise(stream.requests):
            if two.index > limit:
                break
            arrived = sum(one.index < r.index < two.index for r in stream.responses)
            assert (two.psn - one.psn) & MASK == 1 + arrived
            gaps += arrived > 0
    assert gaps > 3


def refused(seen: Seen) -> bool:
    aeth = seen.packet.aeth
    return aeth is not None and aeth.syndrome >> 5 == 3


@pytest.mark.parametrize(("variant", "width"), [(0, 64), (1, 32)])
def test_p07_counts_beats(variant: int, width: int) -> None:
    for stream in on_uc("P07", variant):
        for seen, step in stream.steps:
            assert step == max(1, -(-len(seen.packet.payload) // width))


def test_p08_counts_a_read_once() -> None:
    reads = [step for stream in planted("P08") for seen, step in stream.steps if is_read(seen)]
    assert reads and set(reads[:4]) == {1}


def test_p09_counts_all_queue_pairs_together() -> None:
    made = captures("P09", Conversation(services=(Service.UC, Service.UD)))[0]
    together = sorted(s for stream in streams(made) for s in stream.requests)
    assert len(together) > 100
    assert all((b.psn - a.psn) & MASK == 1 for a, b in pairwise(together))


def test_p10_goes_on_where_the_last_connection_stopped() -> None:
    made = planted("P10", services=(Service.UC,))
    old, new = made[: len(made) // 2], made[len(made) // 2 :]
    for before, after in zip(old, new, strict=True):
        assert before.requests[0].psn == before.facts["start_psn"]
        assert after.requests[0].psn == (before.requests[-1].psn + 1) & MASK


def test_p11_sends_the_same_payload_under_new_psns() -> None:
    for stream in planted("P11"):
        psns: dict[bytes, set[int]] = {}
        for seen in stream.requests:
            psns.setdefault(seen.packet.payload, set()).add(seen.psn)
        assert max(map(len, psns.values())) > 1
        assert any(refused(response) for response in stream.responses)


@pytest.mark.parametrize(("fault", "width"), [("P12", 2), ("P13", 0)])
def test_p12_and_p13_miscount_empty_messages_only(fault: str, width: int) -> None:
    empty = 0
    for stream in on_uc(fault):
        for seen, step in stream.steps:
            is_empty = seen.row.position is Position.ONLY and not seen.packet.payload
            assert step == (width if is_empty else 1)
            empty += is_empty
    assert empty > 10


def test_p12_can_also_be_a_gap_between_messages() -> None:
    for stream in on_uc("P12", 1):
        ends = [message[-1] for message in messages(stream)]
        wide = [seen for seen, step in stream.steps if step == 2]
        assert wide == ends[4::5][: len(wide)] and len(wide) >= 6


def test_p14_repeats_a_psn_at_the_start_of_a_burst_and_skips_one_behind_it() -> None:
    steps = {step for stream in on_uc("P14") for _, step in stream.steps}
    assert steps == {0, 1, 2}
    for stream in on_uc("P14"):
        assert all(not seen.packet.bth.reserved7 for seen in stream.requests)


def test_p15_is_consecutive_when_read_backwards() -> None:
    for stream in on_uc("P15"):
        backwards = [int.from_bytes(s.psn.to_bytes(3, "big"), "little") for s in stream.requests]
        assert backwards[0] == stream.facts["start_psn"]
        assert all((b - a) & MASK == 1 for a, b in pairwise(backwards))


def test_p16_shows_gaps_in_the_run_with_stalls_only() -> None:
    smooth, stalled = captures("P16", Conversation(services=(Service.UC,)))
    for stream in streams(smooth):
        assert {step for _, step in stream.steps} == {1}
    for stream in streams(stalled):
        assert [n for n, (_, step) in enumerate(stream.steps) if step == 2] == list(
            range(3, len(stream.steps), 4)
        )


@pytest.mark.parametrize("variant", [0, 1, 2])
def test_p17_restarts_beside_the_psn_of_the_nak(variant: int) -> None:
    offsets = set()
    for stream in planted("P17", variant, messages=(16, 0)):
        nak = next(r for r in stream.responses if refused(r))
        sent = [s for s in stream.requests if s.index < nak.index]
        newest = max(sent, key=lambda s: distance(s.psn, sent[0].psn))
        copy = next(
            s for s in stream.requests if s.index > nak.index and distance(s.psn, newest.psn) <= 0
        )
        offsets.add(distance(copy.psn, nak.psn))
        if variant == 2:
            assert copy.row.position & Position.FIRST
    assert offsets <= {0: {1, 0}, 1: {-1}, 2: set(range(-8, 1))}[variant]
    assert min(offsets) < 0 or (variant == 0 and 1 in offsets)


@pytest.mark.parametrize("variant", [0, 1])
def test_p18_goes_on_at_the_wrong_psn_after_recovery(variant: int) -> None:
    right = {
        tuple(s.psn for s in stream.requests) for stream in streams(healthy("P18", Conversation()))
    }
    for stream in planted("P18", variant):
        assert tuple(seen.psn for seen in stream.requests) not in right
        contents: dict[int, set[bytes]] = {}
        for seen in stream.requests:
            contents.setdefault(seen.psn, set()).add(seen.packet.payload)
        reused = max(map(len, contents.values())) > 1
        assert reused == (variant == 0)


@pytest.mark.parametrize(("variant", "border"), [(0, 0x000000), (1, 0x800000)])
def test_p19_resends_across_the_border_what_was_acknowledged(variant: int, border: int) -> None:
    resent = 0
    for stream in planted("P19", variant):
        beyond = next(r for r in stream.responses if 0 <= distance(r.psn, border) < 4096)
        later = [s for s in stream.requests if s.index > beyond.index]
        resent += any(distance(s.psn, border) < 0 for s in later)
    assert resent >= 4


@pytest.mark.parametrize(("variant", "off"), [(2, 1), (3, -1)])
def test_p20_acknowledges_beside_the_request(variant: int, off: int) -> None:
    made = captures("P20", Conversation(), variant=variant)[0]
    right = healthy("P20", Conversation(), variant=variant)
    for wrong, good in zip(streams(made, side=1), streams(right, side=1), strict=True):
        first = next(r for r in wrong.responses if r.packet.bth.opcode == 0x11)
        same = next(r for r in good.responses if r.packet.bth.opcode == 0x11)
        assert first.psn == (same.psn + off) & MASK


def test_p20_refuses_the_first_request_at_one_too_low() -> None:
    made = captures("P20", Conversation(), variant=1)[0]
    for stream in streams(made, side=1):
        first = stream.responses[0]
        assert refused(first)
        assert first.psn == (stream.facts["start_psn"] - 1) & MASK  # type: ignore[operator]


def test_p21_reads_back_old_bytes_after_a_bad_packet() -> None:
    made = captures("P21", Conversation())[0]
    stale = 0
    for stream in streams(made, side=1):
        written: dict[int, bytes] = {}
        asked: dict[int, bytes] = {}
        for seen in sorted((*stream.requests, *stream.responses)):
            reth = seen.packet.reth
            if is_read(seen) and reth:
                asked[seen.psn] = written[reth.address]
            elif reth:
                written[reth.address] = seen.packet.payload
            elif seen.packet.bth.opcode == 0x10 and seen.psn in asked:
                stale += asked[seen.psn] != seen.packet.payload
    assert stale >= 3
    assert not any(refused(r) for s in streams(made, side=1) for r in s.responses)


def test_p22_refuses_the_request_behind_a_read_at_the_psn_behind_its_first() -> None:
    made = captures("P22", Conversation())[0]
    found = 0
    for stream in streams(made, side=1):
        read_psns = {seen.psn for seen in stream.requests if is_read(seen)}
        naks = [r for r in stream.responses if refused(r)]
        found += any((nak.psn - 1) & MASK in read_psns for nak in naks)
    assert found >= 4


@pytest.mark.parametrize(("variant", "step"), [(0, 0), (1, 2)])
def test_p23_repeats_or_skips_a_psn_on_uc(variant: int, step: int) -> None:
    for stream in planted("P23", variant):
        places = [n for n, (_, found) in enumerate(stream.steps) if found == step]
        assert places == list(range(5, len(stream.steps), 6))
        assert {found for _, found in stream.steps} == {1, step}


@pytest.mark.parametrize(("variant", "upper"), [(0, 0x01), (1, 0x80), (2, 0xFF)])
def test_p24_sends_the_upper_byte_of_the_start_value(variant: int, upper: int) -> None:
    for stream in planted("P24", variant):
        bth = stream.requests[0].packet.bth
        assert bth.psn == stream.facts["start_psn"]
        assert bth.reserved7 == upper & 0x7F
        assert bth.ack_req or upper < 0x80


def test_p25_follows_the_peers_psn() -> None:
    jumps = 0
    capture = captures("P25", Conversation())[0]
    for mine, theirs in zip(streams(capture), streams(capture, side=1), strict=True):
        their_psns = {seen.psn for seen in theirs.requests}
        jumps += sum(
            step not in (1,) and (a.psn + step - 1) & MASK in their_psns for a, step in mine.steps
        )
    assert jumps > 8
