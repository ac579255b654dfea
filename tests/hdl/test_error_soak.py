# SPDX-License-Identifier: BSD-2-Clause
"""Failures and restarts at any moment, drawn from a seed.

Every activation gets a remote QPN of its own, so that each frame says which one it belongs to.
What must hold: one completion per work request, in order; frames are a prefix of what the model
says; success only for what has left, and on RC was answered; nothing follows an error completion.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import chain

import pytest
from endpoint_bench import PORT_IPV4, PORT_MAC, Bench, qp

from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.psn import packet_count
from roceproof.conformance.wire.transmitter import Requester
from roceproof.dpi import Flow, PathMtu, Service
from roceproof.dpi.contract.records import SENDING, QpCommand, QpConfig, Status, WorkRequest
from roceproof.verbs.addresses import parse_gid, parse_mac

QPS = 6
ROUNDS = 60
LIMIT = 400_000
MODULUS = 1 << 24
SEEDS = range(4)
PSN_STRIDE = 0x4000  # a late response must not be taken for one to the next activation
NAKS = {
    0x60: Status.RETRY_EXC_ERR,
    0x61: Status.REM_INV_REQ_ERR,
    0x62: Status.REM_ACCESS_ERR,
    0x63: Status.REM_OP_ERR,
    0x2C: Status.RNR_RETRY_EXC_ERR,
}
REFUSED = (Status.LOC_LEN_ERR, Status.LOC_QP_OP_ERR)
SILENCE = 0xFF


@dataclass
class Life:
    """One activation of a queue pair."""

    config: QpConfig
    frames: list[tuple[int, bytes]] = field(default_factory=list)
    answers: set[Status] = field(default_factory=set)


class Campaign:
    """Posts, answers and restarts at random, and remembers what came of it."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self.bench, self.port, self.random = bench, bench.port, bench.random
        self.random.seed(seed)
        self.lives: dict[int, Life] = {}
        self.current: dict[int, Life] = {}
        self.posted: dict[int, list[tuple[WorkRequest, bytes]]] = defaultdict(list)
        self.completions: dict[int, list[tuple[int, int, Status, int]]] = defaultdict(list)
        self.unacknowledged: list[tuple[Life, int]] = []
        self.cycle = 0

    def activate(self, index: int) -> None:
        rng = self.random
        config = qp(
            index,
            rng.choice([Service.RC] * 8 + [Service.UC] * 2 + [Service.UD]),
            remote_qpn=0x1000 + len(self.lives),
            path_mtu=rng.choice([PathMtu.MTU_256, PathMtu.MTU_512]),
            sq_psn=(len(self.lives) * PSN_STRIDE - 4) % MODULUS,
            ack_timeout=rng.choice([0, 1, 2]),
        )
        self.current[index] = self.lives[config.remote_qpn] = Life(config)
        self.port.configure(config)

    def reset(self, index: int) -> None:
        self.port.configure(replace(self.current[index].config, command=QpCommand.RESET))

    def post(self, index: int) -> None:
        rng = self.random
        qpn = self.current[index].config.local_qpn + 0x100 * (rng.random() < 0.03)
        data = rng.randbytes(rng.choice([8 + rng.randrange(40), 256, 600, rng.randrange(8, 3000)]))
        request = WorkRequest(
            wr_id=sum(map(len, self.posted.values())),
            qpn=qpn,
            operation=rng.choice(SENDING),
            length=(1 << 31) + 1 if rng.random() < 0.03 else len(data),
            remote_addr=rng.getrandbits(64),
            immediate=rng.getrandbits(32),
            payload_offset=rng.randrange(self.bench.lanes),
        )
        self.posted[qpn].append((request, data))
        self.port.post(request, payload=data)

    def run(self, cycles: int) -> None:
        self.cycle = self.bench.simulation.run(cycles=cycles).cycle
        for frame in self.port.take_frames():
            packet = parse(frame.data)
            assert packet is not None
            life = self.lives[packet.bth.dest_qpn]
            life.frames.append((frame.cycle, frame.data))
            if life.config.service is Service.RC:
                self.unacknowledged.append((life, packet.bth.psn))
        for timed in self.port.take_completions():
            done = timed.completion
            self.completions[done.qpn].append((timed.cycle, done.wr_id, done.status, done.syndrome))

    def answer_everything(self) -> None:
        """Acknowledge what the active lives have sent, lost responses included."""
        self.unacknowledged.clear()
        for life in self.current.values():
            if life.config.service is Service.RC and life.frames:
                packet = parse(life.frames[-1][1])
                assert packet is not None
                self.respond(life, packet.bth.psn, 0x1F)

    def answer(self) -> None:
        """Acknowledge, refuse or ignore some of what has come."""
        rng = self.random
        waiting, self.unacknowledged = self.unacknowledged, []
        for life, psn in waiting:
            fate = rng.random()
            if fate < 0.6:
                self.respond(life, psn, 0x1F)
            elif fate < 0.7:
                self.respond(life, psn, rng.choice(list(NAKS)))
            elif fate < 0.8:
                self.unacknowledged.append((life, psn))

    def respond(self, life: Life, psn: int, syndrome: int) -> None:
        life.answers.add(NAKS.get(syndrome, Status.SUCCESS))
        self.port.inject(self.bench.peer.response(life.config, psn, syndrome=syndrome))

    def missing(self) -> int:
        return sum(map(len, self.posted.values())) - sum(map(len, self.completions.values()))


def disturbed(campaign: Campaign) -> Flow:
    percents = [campaign.random.choice([0, 0, 30, 80, 97]) for _ in range(6)]
    names = ("tx_stall", "rx_gap", "payload_gap", "wr_gap", "cpl_stall", "qpc_gap")
    return Flow(**dict(zip(names, percents, strict=True)))


def play(campaign: Campaign) -> None:
    rng = campaign.random
    for index in range(QPS):
        campaign.activate(index)
    for _ in range(ROUNDS):
        campaign.port.flow(disturbed(campaign))
        for _ in range(rng.randrange(12)):
            campaign.post(rng.randrange(QPS))
        for _ in range(rng.randrange(8)):
            campaign.run(rng.choice([1, 10, 50, 300]))
            campaign.answer()
            if rng.random() < 0.3:
                campaign.activate(rng.randrange(QPS))
            if rng.random() < 0.02:
                campaign.reset(rng.randrange(QPS))
    campaign.port.flow(Flow())
    start = campaign.cycle
    while campaign.missing():
        assert campaign.cycle < start + LIMIT, f"{campaign.missing()} completions have not come"
        campaign.run(500)
        campaign.answer_everything()
    campaign.run(2000)


def model_frames(life: Life, messages: list[tuple[WorkRequest, bytes]]) -> list[bytes]:
    model = Requester(mac=parse_mac(PORT_MAC), ipv4=parse_gid(PORT_IPV4)[-4:])
    model.configure(life.config)
    return list(chain.from_iterable(model.frames(*message) for message in messages))


def served(life: Life, posted: list[tuple[WorkRequest, bytes]]) -> list[tuple[WorkRequest, bytes]]:
    """From the message that an activation's first frame belongs to."""
    sendable = [(request, data) for request, data in posted if request.length == len(data)]
    first = life.frames[0][1]
    for index, message in enumerate(sendable):
        if model_frames(life, [message])[0] == first:
            return sendable[index:]
    raise AssertionError(f"nobody posted the first frame to {life.config.remote_qpn:#x}")


def judge_completions(campaign: Campaign) -> None:
    for qpn, posted in campaign.posted.items():
        done = campaign.completions[qpn]
        assert sorted(wr_id for _, wr_id, _, _ in done) == [r.wr_id for r, _ in posted]
        for refused in (True, False):
            order = [wr_id for _, wr_id, status, _ in done if (status in REFUSED) == refused]
            assert order == sorted(order), f"completions of QP {qpn:#x} out of order"


def judge_life(campaign: Campaign, life: Life) -> None:
    qpn, size = life.config.local_qpn, life.config.path_mtu.size
    done = {wr_id: rest for _, wr_id, *rest in campaign.completions[qpn]}
    cycles = {wr_id: cycle for cycle, wr_id, *_ in campaign.completions[qpn]}
    messages = served(life, campaign.posted[qpn])
    expected = model_frames(life, messages)
    assert [frame for _, frame in life.frames] == expected[: len(life.frames)]
    left = [cycle for cycle, _ in life.frames]
    first, failed = 0, False
    for request, data in messages:
        sent = left[first : first + packet_count(len(data), size)]
        if not sent:
            break
        whole = len(sent) == packet_count(len(data), size)
        first += len(sent)
        status, syndrome = done[request.wr_id]
        if status is Status.SUCCESS:
            assert whole and not failed and sent[-1] <= cycles[request.wr_id]
            assert life.config.service is Service.UC or life.answers
            continue
        if life.config.service is Service.RC:
            assert left[-1] <= cycles[request.wr_id], "a frame followed an error completion"
        if status is not Status.WR_FLUSH_ERR:
            assert not failed and life.config.service is Service.RC
            if syndrome == SILENCE:
                assert status is Status.RETRY_EXC_ERR and life.config.ack_timeout
            else:
                assert status is NAKS[syndrome] and status in life.answers
        failed = True


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("seed", SEEDS)
def test_failures_and_restarts_at_any_moment_keep_every_promise(bench: Bench, seed: int) -> None:
    campaign = Campaign(bench, seed)
    play(campaign)
    judge_completions(campaign)
    for life in campaign.lives.values():
        if life.frames:
            judge_life(campaign, life)
    statuses = [status for done in campaign.completions.values() for _, _, status, _ in done]
    assert statuses.count(Status.SUCCESS) > 20
    assert statuses.count(Status.WR_FLUSH_ERR) > 5
