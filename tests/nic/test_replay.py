# SPDX-License-Identifier: BSD-2-Clause
"""What a capture asks can be asked of another device, and answers are held against another's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from roceproof import nic_replay
from roceproof.common.errors import RoceproofError
from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import Record
from roceproof.conformance.nic import lanes
from roceproof.conformance.nic.answers import told
from roceproof.conformance.nic.lanes import Asked, asked
from roceproof.conformance.nic.replay import differences, replay
from roceproof.conformance.targets.model import ModelFactory
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.headers import Aeth
from roceproof.nic_cli import nic
from roceproof.nic_replay import run_replay

CAPTURES = Path(__file__).parents[1] / "captures" / "rxe"
WRITE = 0x0A


def records(name: str) -> list[Record]:
    return list(read(CAPTURES / f"{name}.pcapng.gz"))


def played(requests: Asked) -> dict[str, Any]:
    return replay(requests, ModelFactory())


def edited(name: str, change: Any, *, at: int) -> Asked:
    """The capture with its `at`-th request changed; every frame of others as it was."""
    found = records(name)
    number = asked(found).lanes[0].requests[at][0]
    frame = found[number - 1].frame
    found[number - 1] = found[number - 1]._replace(frame=change(frame))
    return asked(found)


def test_a_capture_tells_which_queue_pairs_were_asked_for_what() -> None:
    (write,) = asked(records("write")).lanes
    assert (write.service.name, write.path_mtu, write.receives) == ("RC", 4096, 0)
    assert len(write.requests) == 15
    there, back = asked(records("rc_pingpong")).lanes
    assert (there.receives, there.longest, back.longest) == (6, 4096, 4096)
    (read_,) = asked(records("read")).lanes
    assert read_.path_mtu == 1024  # no request is that long: PSNs tell
    (uc,) = asked(records("uc_write_gap")).lanes
    assert uc.service.name == "UC"
    assert asked(records("send_ud")).left_out


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("write", "ACK, message 5"),
        ("rc_pingpong", "ACK, message 5"),
        ("compare_swap_lost", "NAK of 2: sequence error"),
    ],
)
def test_the_model_answers_what_it_is_asked(name: str, answer: str) -> None:
    lanes = played(asked(records(name)))["lanes"]
    assert answer in [word for lane in lanes for each in lane["answers"].values() for word in each]


def test_a_replay_is_the_same_every_time() -> None:
    requests = asked(records("read_ipv6_lost"))
    assert differences(played(requests), played(requests)) == []


def wrong_icrc(frame: bytes) -> bytes:
    return frame[:-1] + bytes([frame[-1] ^ 1])


def wrong_key(frame: bytes) -> bytes:
    packet = parse(frame)
    assert packet
    assert packet.reth
    return build(replace(packet, extensions=(replace(packet.reth, rkey=packet.reth.rkey ^ 1),)))


def test_what_was_wrong_on_purpose_stays_wrong() -> None:
    healthy = played(asked(records("write")))
    for change, words in ((wrong_icrc, "NAK of 0: sequence"), (wrong_key, "remote access error")):
        found = differences(played(edited("write", change, at=0)), healthy)
        assert any(words in line for line in found), found
        assert any("memory" in line for line in found)


def test_what_would_need_too_much_memory_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asked(records("rc_pingpong"))
    assert max(lane.longest for lane in whole.lanes) == 4096
    monkeypatch.setattr(lanes, "MOST_BYTES", 4095)
    requests = sum(len(lane.requests) for lane in whole.lanes)
    assert asked(records("rc_pingpong")) == Asked([], whole.left_out + requests)


def test_a_long_replay_does_not_look_for_the_path_mtu_at_every_packet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []
    healthy = lanes.Lane._reads_of

    def counted(lane: lanes.Lane, path_mtu: int) -> int:
        looked.append(path_mtu)
        return healthy(lane, path_mtu)

    monkeypatch.setattr(lanes.Lane, "_reads_of", counted)
    requests = asked(records("read"))
    assert len(requests.lanes[0].requests) > 1
    played(requests)
    assert len(looked) <= len(lanes.PATH_MTUS)


def test_a_capture_that_asks_for_nothing_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nic_replay, "NicFactory", lambda options: ModelFactory())
    with pytest.raises(RoceproofError, match=r"asks for nothing .* requests are left out"):
        run_replay([CAPTURES / "send_ud.pcapng.gz"], "lo", "agent", as_json=False, quiet=True)
    healthy = CAPTURES / "write.pcapng.gz"
    assert run_replay([healthy], "lo", "agent", as_json=False, quiet=True) == 0


@pytest.mark.parametrize(
    ("agent", "words"), [("ssh 'host", "No closing quotation"), ("", "it is empty")]
)
def test_an_agent_that_is_no_command_is_refused(agent: str, words: str) -> None:
    where = ["--interface", "lo", "--agent", agent]
    done = CliRunner().invoke(nic, ["doctor", *where])
    assert done.exit_code == 2
    assert words in done.output


def test_other_memory_is_a_difference() -> None:
    a = played(asked(records("write")))
    b = {**a, "lanes": [{**a["lanes"][0], "memory": "0"}]}
    assert differences(a, b) == [f"queue pair 1: memory: {a['lanes'][0]['memory']}; 0"]


@pytest.mark.parametrize(
    ("psn", "words", "is_last"),
    [
        (3, "", False),
        (5, "ACK, message 2", True),
        (8, "ACK, message 2", True),
        (9, "ACK of 9, which nobody has sent, message 2", True),
    ],
)
def test_an_ack_may_cover_more_than_it_was_asked_for_but_not_what_is_not_there(
    psn: int, words: str, is_last: bool
) -> None:
    request = asked(records("write")).lanes[0].requests[0][1]
    request = replace(request, bth=replace(request.bth, psn=5, opcode=WRITE))
    ack = replace(
        request, bth=replace(request.bth, psn=psn, opcode=0x11), extensions=(Aeth(31, 2),)
    )
    assert told(ack, request, first_psn=0, path_mtu=1024, newest=8) == (words, is_last)
