# SPDX-License-Identifier: BSD-2-Clause
"""What moves on a device's streams hits the bins that it should, and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted import CLAIMS, Scripted, active, answered, counted, packet, posted, sent

from roceproof.conformance.coverage.collector import Collector
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.depths import HELD, MOST
from roceproof.conformance.coverage.samplers.messages import length_class
from roceproof.conformance.coverage.samplers.responder import payload_class
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.coverage.table import load_table
from roceproof.conformance.targets.bus_events import Completed, Disturbed, Received
from roceproof.dpi.session.options import Flow
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

LAST_PSN = (1 << 24) - 1


def names(counts: Counts, point: str) -> set[str]:
    return {name for name, times in counts.hits(point).items() if times}


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        *((0, "0"), (3, "1..3"), (4, "below"), (255, "below"), (256, "mtu"), (259, "mtu+1..3")),
        *((260, "above"), (512, "n*mtu"), (515, "n*mtu+1..3"), (516, "above")),
    ],
)
def test_lengths_have_a_class_against_the_path_mtu(size: int, expected: str) -> None:
    assert length_class(size, 256) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        *((0, "0"), (3, "1..3"), (4, "below"), (252, "below"), (253, "mtu-3..mtu-1")),
        *((256, "mtu"), (257, "beyond")),
    ],
)
def test_payloads_have_a_class_against_the_path_mtu(size: int, expected: str) -> None:
    assert payload_class(size, 256) == expected


def test_bits_of_fields_are_seen_as_0_and_as_1() -> None:
    counts = counted(active(0x11, sq_psn=5), posted(3, op=Op.WRITE, rkey=1))
    bits = names(counts, "config.bits")
    assert {"sq_psn.0/1", "sq_psn.1/0", "sq_psn.2/1", "local_qpn.4/1", "local_qpn.5/0"} <= bits
    assert "sq_psn.0/0" not in bits
    assert not any(bit.startswith("remote_ipv6") for bit in bits)
    assert {"length.0/1", "rkey.0/1", "rkey.1/0"} <= names(counts, "work.bits")
    assert "immediate.0/0" not in names(counts, "work.bits")
    assert "mac.40/0" not in names(counts, "port.bits")


def test_messages_are_crossed_with_what_came_before() -> None:
    counts = counted(
        active(0x11),
        active(0x12, service=Service.UC),
        posted(259, solicited=True, offset=7),
        posted(0, qpn=0x12, op=Op.WRITE_IMM),
        posted(8, qpn=0x22),  # nobody, but in the context of 0x12
        posted(8, qpn=0x13),
    )
    assert names(counts, "message.mtu.length") == {"SEND/256/mtu+1..3", "WRITE_IMM/256/0"}
    assert names(counts, "message.follows") == {"SEND/WRITE_IMM/other service"}
    assert names(counts, "message.solicited") == {"WRITE_IMM/solicited/plain"}
    assert names(counts, "message.first_lane") == {"64/7"}
    assert names(counts, "message.last_lane") == {"64/1"}
    assert names(counts, "message.packets") == {"64/RC/2", "64/UC/1"}
    assert names(counts, "work.qpn") == {"known", "alias", "unknown"}


def test_pauses_belong_to_the_messages_that_begin_meanwhile() -> None:
    counts = counted(
        active(), posted(1), Disturbed(0, Flow(tx_stall=90, rx_gap=40, wr_gap=5)), posted(1)
    )
    assert {"64/RC/tx_stall/0", "64/RC/tx_stall/81..95", "64/RC/wr_gap/1..30"} <= names(
        counts, "stall.service"
    )
    assert names(counts, "stall.pair") == {"tx_stall/rx_gap", "rx_gap/tx_stall"}


def test_depths_count_what_is_under_way() -> None:
    counts = counted(
        active(0x11),
        active(0x12),
        *(posted(1) for _ in range(4)),
        posted(1, qpn=0x12),
        sent(0),
        sent(1),
        Completed(9, 0x11, 1, "success"),
        posted(1),
    )
    assert names(counts, "depth.work") == {"64/RC/1", "64/RC/2..3", "64/RC/4..7"}
    assert names(counts, "depth.work_of_one") == {"64/RC/1", "64/RC/2..3", "64/RC/4..7"}
    assert counts.hits("depth.work")["64/RC/4..7"] == 3
    assert names(counts, "depth.packets") == {"64/1", "64/2..3"}
    assert names(counts, "qp.active") == {"64/1", "64/2"}
    assert names(counts, "qp.busy") == {"64/1", "64/2"}
    assert names(counts, "qp.context") == {"RC/1"}


def test_a_stream_that_waits_is_held_back_by_the_device() -> None:
    at_once = replace_offer(posted(1, 10), 5)
    late = replace_offer(posted(1, 40), 12)
    assert names(counted(active(), at_once), "depth.held") == set()
    assert names(counted(active(), at_once, late), "depth.held") == {"64/work"}
    paused = Disturbed(0, Flow(wr_gap=50))
    assert names(counted(active(), paused, at_once, late), "depth.held") == set()


def replace_offer(movement, cycle: int):
    return movement._replace(offered=cycle)


def test_answers_have_a_place_in_the_window() -> None:
    life = [active(), posted(600), posted(1), *(sent(psn, 10) for psn in range(4))]
    places = {2: "end", 0: "oldest", 1: "middle", 3: "newest", 4: "next", 9: "ahead"}
    places[LAST_PSN] = "behind"
    for psn, place in places.items():
        assert names(counted(*life, answered(psn, syndrome=0x60)), "answer.place") == {
            f"NAK/{place}"
        }
    assert names(counted(active(), answered(0)), "answer.place") == {"ACK/idle"}
    counts = counted(*life, answered(3, 40), answered(3, 50), answered(0, syndrome=0x25))
    assert names(counts, "answer.completes") == {"64/2", "64/0"}
    assert names(counts, "answer.syndrome") == {"ACK/31", "RNR NAK/5"}
    assert names(counts, "answer.delay") == {"64/ACK/16..63"}


def test_only_a_sound_answer_moves_the_window() -> None:
    bad = bytearray(answered(0).frame)
    bad[-1] ^= 1
    life = [active(), posted(1), sent(0)]
    for lost in (Received(0, bytes(bad)), answered(0)._replace(is_damaged=True)):
        counts = counted(*life, lost, answered(0))
        assert names(counts, "answer.place") == {"ACK/newest"}
        assert names(counts, "answer.completes") == {"64/1"}


def test_frames_have_neighbours_and_gaps() -> None:
    frame = answered(0).frame  # 62 bytes: 8 beats
    counts = counted(
        active(),
        Received(100, frame),
        Received(108, frame, is_damaged=True),
        Received(118, frame + b"\0"),
        Received(160, bytes(60)),
    )
    assert names(counts, "received.neighbours") == {
        *("64/good/damaged/0", "64/damaged/good/1..3", "64/good/no RoCE/16..")
    }
    assert names(counts, "depth.burst") == {"64/1", "64/2"}
    assert names(counts, "received.icrc") == {"right/0", "right/1..3"}
    assert names(counts, "received.kind") == {"ACKNOWLEDGE", "not IP"}
    assert names(counts, "received.last_lane") == {"64/5", "64/6", "64/3"}


def test_psns_wrap_between_messages_and_inside() -> None:
    first = active(sq_psn=LAST_PSN)
    between = counted(first, sent(LAST_PSN), sent(0))
    inside = counted(first, sent(LAST_PSN, opcode=0x00), sent(0, opcode=0x02))
    assert names(between, "life.wrap_place") == {"RC/between messages"}
    assert names(inside, "life.wrap_place") == {"RC/inside a message"}
    assert names(inside, "life.psn_wraps") == {"RC/1"}
    assert names(counted(active(sq_psn=0), sent(0), sent(0)), "life.psn_wraps") == set()


def test_moments_know_order_distance_and_queue_pair() -> None:
    counts = counted(
        active(0x11),
        active(0x12),
        sent(0, 100),
        sent(0, 101, qpn=0x12),
        answered(0, 104, syndrome=0x60),
        active(0x11, 104),
        Completed(110, 0x12, 1, "retry_exc_err", 0xFF),
    )
    assert {
        "departure-nak/same/4..7",
        "departure-nak/other/2..3",
        "nak-restart/same/0",
        "restart-nak/same/0",
        "nak-timeout/other/4..7",
        "restart-timeout/other/4..7",
    } <= names(counts, "moment.distance")
    assert not any(name.startswith("timeout") for name in names(counts, "moment.distance"))


def test_moments_know_the_stream_that_hardly_moves() -> None:
    hardly, often = (
        Disturbed(50, Flow(tx_stall=95, cpl_stall=90)),
        Disturbed(150, Flow(tx_stall=60)),
    )
    life = [active(), hardly, sent(0, 100), answered(0, 104), often, sent(1, 200), answered(1, 204)]
    met = names(counted(*life), "moment.held")
    assert {"departure-ack/same/tx_stall", "departure-ack/same/nothing"} <= met
    assert not any(name.endswith("cpl_stall") for name in met)


def test_events_have_a_place_in_the_device() -> None:
    last = 2 * CLAIMS.qps - 1
    ends = [active(CLAIMS.qps), active(last), sent(0, qpn=CLAIMS.qps), sent(0, qpn=last)]
    assert names(counted(*ends), "moment.place") == {"departure/first", "departure/last"}


def test_an_answer_to_the_life_before_meets_the_restart() -> None:
    life = [active(0x11), sent(0, 100), active(0x11, 200), answered(0, 202)]
    assert "restart-ack/same/2..3" in names(counted(*life), "moment.distance")


def test_a_timeout_is_no_nak() -> None:
    counts = counted(active(), Completed(9, 0x11, 1, "retry_exc_err", 0x60), active(0x11, 9))
    assert not any("timeout" in name for name in names(counts, "moment.distance"))
    assert names(counts, "completion.status") == {"RC/retry_exc_err"}


def test_requests_to_a_responder_and_its_answers() -> None:
    counts = counted(
        active(0x11),
        Received(0, packet(0x04, 0x11, 0, data=bytes(256))),
        Received(0, packet(0x24, 0x11, 0)),  # of another service
        sent(0, opcode=0x11),
    )
    assert names(counts, "responder.opcode") == {"RC/SEND ONLY"}
    assert names(counts, "responder.payload") == {"RC/256/mtu"}
    assert names(counts, "received.kind") == {"request"}


def test_a_bench_that_watches_sees_what_is_counted() -> None:
    device, counts = Scripted(), Counts()
    collector = Collector(device, CLAIMS, counts)
    device.script = [active(0x11)]
    assert collector.target.watch()
    device.script = [posted(1), sent(0)]
    collector.target.wait(1)
    device.script = [sent(1)]
    assert collector.target.moved() == [posted(1), sent(0), sent(1)]
    assert collector.target.moved() == []
    collector.finish()
    assert names(counts, "depth.packets") == {"64/1", "64/2..3"}


def test_every_bin_that_is_hit_is_one_of_the_table() -> None:
    counts = counted(
        active(0x11, ack_timeout=3, traffic_class=2),
        posted(300, op=Op.WRITE_IMM, immediate=5, rkey=9, remote_addr=1 << 40),
        sent(0, 30),
        answered(0, 60),
        Completed(70, 0x11, 1, "success", 0x1F),
    )
    table, scope = load_table(), Scope.of([CLAIMS, replace(CLAIMS, data_width=512)])
    for point in counts.to_json().keys() - {MOST, HELD}:
        assert names(counts, point) <= set(table.points[point].bins(scope)), point
