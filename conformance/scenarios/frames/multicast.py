# SPDX-License-Identifier: BSD-2-Clause
"""Unreliable datagrams to a group: the sender's bytes are the same however many receive them.

SEND with immediate, path MTU 4096, from the reference model to 1 to 8 of its kind, behind a switch
that copies each frame to every member and by seed loses some of the copies. Each member's card
hands what came for the group and has a right ICRC to the queue pair that has joined it.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.scenarios.frames.trial import verdict
from roceproof.conformance.scenarios.line import AROUND_FRAME, DETH, IMMEDIATE, PER_PACKET
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Row,
    Scene,
    SceneScenario,
    at_most,
    exactly,
    significant,
    within,
)
from roceproof.conformance.targets.interface import CasePlace, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region, Work

_GROUP = Host(bytes.fromhex("01005e010203"), bytes((239, 1, 2, 3)))
_GROUP_QPN, _QPN = 0xFFFFFF, 0x22
_MTU, _QKEY = 4096, 0x11111111
_PATIENCE_NS = 100_000
_GAP_NS = 5_000
"""In which a frame reaches its receiver."""


def _scenes(quick: bool, seed: int) -> Iterator[Scene]:
    count = 100 if quick else 2000
    losses = (0, 0.01, 0.1) if quick else (0, 0.001, 0.01, 0.1)
    for loss, receivers in product(losses, (1, 2, 4, 8)):
        words: Row = {"receivers": receivers, "loss": loss, "messages": count}
        yield Scene(words, partial(play, words, seed))


class _Member:
    """One receiver, the switch's port to it, and what that has lost."""

    def __init__(self, target: Target, sender: Host, messages: int) -> None:
        spec = QpSpec(
            service=Service.UD,
            remote=Host(sender.mac, sender.ip),
            remote_qpn=_QPN,
            local_qpn=_QPN,
            path_mtu=_MTU,
            qkey=_QKEY,
        )
        self.target = target
        self.lost: set[int] = set()
        self._qp: Qp = target.open(spec)
        self._region: Region = target.register(messages * (GRH_BYTES + _MTU))
        for place in range(messages):
            target.post_receive(
                self._qp,
                wr_id=place,
                region=self._region,
                offset=place * (GRH_BYTES + _MTU),
                length=GRH_BYTES + _MTU,
            )

    def take(self, frame: bytes) -> None:
        """What its card hands to the queue pair that has joined the group."""
        packet = parse(frame)
        is_right = icrc.check(frame).judgement is icrc.Judgement.OK
        if packet is None or packet.bth.dest_qpn != _GROUP_QPN or not is_right:
            return
        own = self.target.host
        ip = replace(packet.ip, dst=own.ip)
        bth = replace(packet.bth, dest_qpn=_QPN)
        self.target.send(build(replace(packet, dst_mac=own.mac, ip=ip, bth=bth)))
        self.target.receive(_GAP_NS)

    def delivered(self, data: Sequence[bytes]) -> tuple[set[int], int]:
        """Which datagrams came, by their immediates, and how many of them not as they were sent."""
        came = self.target.completions(self._qp, count=0, timeout_ns=0)
        numbers = {outcome.immediate for outcome in came if outcome.immediate is not None}
        wrong = len(came) - len(numbers)
        for outcome in came:
            begin = outcome.wr_id * (GRH_BYTES + _MTU) + GRH_BYTES
            assert outcome.immediate is not None
            wrong += self._region.read(begin, _MTU) != data[outcome.immediate]
        return numbers, wrong


def play(words: Row, seed: int, folder: Path) -> Row:
    """What came of it."""
    draw = Random(seed)
    data = [draw.randbytes(_MTU) for _ in range(words["messages"])]
    with ExitStack() as stack:
        places = [CasePlace(name=f"end {n}", seed=seed + n) for n in range(1 + words["receivers"])]
        sender, *targets = (stack.enter_context(ModelFactory().device(each)) for each in places)
        members = [_Member(each, sender.host, len(data)) for each in targets]
        records = _sent(sender, data)
        for number, record in enumerate(records):
            for member in members:
                if draw.random() < words["loss"]:
                    member.lost.add(number)
                else:
                    member.take(record.frame)
        told = [member.delivered(data) for member in members]
    everything = {*range(len(data))}
    flagged = [everything - numbers for numbers, _ in told]
    write_pcapng(folder / f"{words['receivers']}-loss-{words['loss']}.pcapng", records)
    line = sum(len(record.frame) + AROUND_FRAME for record in records)
    return {
        "sender_bytes": line,
        "efficiency": significant(len(data) * _MTU / line),
        "injected": sum(len(member.lost) for member in members),
        "flagged": sum(map(len, flagged)),
        "flagged_elsewhere": sum(
            len(told - member.lost) for told, member in zip(flagged, members, strict=True)
        ),
        "wrong": sum(wrong for _, wrong in told),
        **verdict(records, {"schema": 1, "qps": []}),
    }


def _sent(sender: Target, data: Sequence[bytes]) -> list[Record]:
    """The frames of all datagrams."""
    qp = sender.open(
        QpSpec(
            service=Service.UD,
            remote=_GROUP,
            remote_qpn=_GROUP_QPN,
            local_qpn=_QPN,
            path_mtu=_MTU,
            qkey=_QKEY,
        )
    )
    for number, each in enumerate(data):
        sender.post(
            qp,
            Work(
                wr_id=number,
                op=Op.SEND_IMM,
                data=each,
                immediate=number,
                datagram_qpn=_GROUP_QPN,
                datagram_qkey=_QKEY,
            ),
        )
    records: list[Record] = []
    while (arrival := sender.receive(_PATIENCE_NS)) is not None:
        number = len(records) + 1
        records.append(
            Record("sender", arrival.time_ns, Flow.OUTBOUND, arrival.frame, number=number)
        )
    return records


def _checks(rows: Sequence[Row]) -> Iterator[Check]:
    frame = _MTU + PER_PACKET + DETH + IMMEDIATE
    for row in rows:
        where = f"{row['receivers']} receivers, {row['loss']:.0%} lost"
        yield exactly(f"{where}: the sender's bytes", row["messages"] * frame, row["sender_bytes"])
        yield exactly(f"{where}: flagged is what the switch lost", row["injected"], row["flagged"])
        yield exactly(f"{where}: flagged where nothing fell", 0, row["flagged_elsewhere"])
        yield exactly(f"{where}: not as sent", 0, row["wrong"])
        yield exactly(f"{where}: broken rules and names", "", row["rules"] + row["names"])
    worst = min(row["efficiency"] for row in rows)
    yield within("payload per byte of line", _MTU / frame, worst, of=1e-5)
    lossless = [row for row in rows if not row["loss"]]
    yield at_most("without loss: flagged", 0, sum(row["flagged"] for row in lossless))


MULTICAST = SceneScenario(
    id="radio-multicast",
    title="datagrams to a group of 1 to 8 receivers",
    published="UD where one sends to many, 4 KiB at most",
    points=_scenes,
    checks=_checks,
    plot=Plot("receivers", "sender_bytes", ("loss",), "receivers", "the sender's bytes"),
)

SCENARIOS: tuple[SceneScenario, ...] = (MULTICAST,)
