# SPDX-License-Identifier: BSD-2-Clause
"""What a capture asks can be asked of another device, and answers are held against another's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from roceproof.cli.nic import nic
from roceproof.common.errors import RoceproofError
from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.nic import lanes
from roceproof.conformance.nic import replay_report as nic_replay
from roceproof.conformance.nic.answers import told
from roceproof.conformance.nic.lanes import Asked, asked
from roceproof.conformance.nic.replay import differences, replay
from roceproof.conformance.nic.replay_report import run_replay
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import Arrival, CasePlace, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.headers import Aeth, ImmDt, Reth
from roceproof.verbs.queue_pair import Qp
from roceproof.verbs.work import Outcome

CAPTURES = Path(__file__).parents[1] / "captures" / "rxe"
WRITE = 0x0A
UC_WRITE_FIRST, UC_WRITE_ONLY_IMM = 0x26, 0x2B


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


def test_many_messages_that_nobody_acknowledges_all_reach_the_model() -> None:
    frames = [record.frame for record in records("uc_write_gap")]
    (first,) = [p for p in map(parse, frames) if p and p.bth.opcode == UC_WRITE_FIRST][:1]
    assert first
    assert first.reth
    reth, count = replace(first.reth, length=1000), 300
    packets = [
        replace(
            first,
            bth=replace(first.bth, psn=psn, opcode=UC_WRITE_ONLY_IMM),
            extensions=(reth, ImmDt(psn)),
            payload=bytes(1000),
        )
        for psn in range(count)
    ]
    sent = [Record("a", n, Flow.INBOUND, build(each), number=n) for n, each in enumerate(packets)]
    (lane,) = played(asked(sent))["lanes"]
    assert len(lane["completions"]) == count


@pytest.mark.parametrize("away", [0, 0x9000, (1 << 64) - 8])
def test_a_wrong_key_may_name_what_lies_in_no_region_as_well(away: int) -> None:
    first = next(p for p in (parse(r.frame) for r in records("write")) if p and p.reth)
    here, right, wrong = 0x2000, 1, 2
    named = [(here, right), (here, right), (here, wrong), (away, wrong)]
    sent = []
    for psn, (address, key) in enumerate(named):
        bth = replace(first.bth, psn=psn, opcode=WRITE, ack_req=True)
        frame = build(
            replace(first, bth=bth, extensions=(Reth(address, key, 8),), payload=bytes(8))
        )
        sent.append(Record("a", psn, Flow.INBOUND, frame, number=psn))
    (lane,) = played(asked(sent))["lanes"]
    answers = lane["answers"]
    assert answers["1"] == ["ACK, message 2"]
    assert answers["2"] == ["NAK of 2: remote access error"]


class Slow(ForwardingTarget):
    """Does nothing while nobody waits for long."""

    def __init__(self, inner: Target) -> None:
        super().__init__(inner)
        self._held: list[bytes] = []

    def send(self, frame: bytes) -> None:
        self._held.append(frame)

    def receive(self, timeout_ns: int) -> Arrival | None:
        return self._inner.receive(timeout_ns) if self._does(timeout_ns) else None

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        if not self._does(timeout_ns):
            return []
        return self._inner.completions(qp, count=count, timeout_ns=timeout_ns)

    def wait(self, duration_ns: int) -> None:
        if self._does(duration_ns):
            self._inner.wait(duration_ns)

    def _does(self, within_ns: int) -> bool:
        is_enough = within_ns >= self.patience.answer_ns
        while is_enough and self._held:
            self._inner.send(self._held.pop(0))
        return is_enough


class SlowFactory(ModelFactory):
    """Devices on the wall's clock."""

    def __init__(self) -> None:
        super().__init__()
        in_real_time = self.claims.capabilities - {Capability.LOCKSTEP}
        self.claims = replace(self.claims, capabilities=in_real_time)

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        with super().device(place) as target:
            yield Slow(target)


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("rc_pingpong", "no answer"),
        ("uc_pingpong", "completions: []"),
        ("send_uc", "received: "),
        ("uc_write_lost", "memory: "),
    ],
)
def test_a_busy_host_has_time_for_what_the_model_has_done(name: str, missing: str) -> None:
    requests = asked(records(name))
    model = played(requests)
    impatient = replay(requests, SlowFactory())
    assert any(missing in line for line in differences(impatient, model))
    assert differences(replay(requests, SlowFactory(), due=model), model) == []


class Stuck(ForwardingTarget):
    """Takes nothing, and has no patience with who waits for ever."""

    def send(self, frame: bytes) -> None:
        pass

    def wait(self, duration_ns: int) -> None:
        assert self.now_ns < 1_000 * self.patience.answer_ns
        self._inner.wait(duration_ns)


class StuckFactory(ModelFactory):
    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        with super().device(place) as target:
            yield Stuck(target)


def test_a_simulated_device_that_takes_nothing_is_not_waited_for_without_end() -> None:
    requests = asked(records("uc_pingpong"))
    (line, *_) = differences(replay(requests, StuckFactory()), played(requests))
    assert "completions: []" in line


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
    healthy = lanes.Lane.reads_of

    def counted(lane: lanes.Lane, path_mtu: int) -> int:
        looked.append(path_mtu)
        return healthy(lane, path_mtu)

    monkeypatch.setattr(lanes.Lane, "reads_of", counted)
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
