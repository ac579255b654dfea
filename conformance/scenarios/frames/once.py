# SPDX-License-Identifier: BSD-2-Clause
"""An endpoint in HDL that repeats what is lost, over lines that lose, double, delay and corrupt.

Messages on RC, of which each tells its number as an immediate, so that the receiver's completions
say what it has executed, in which order and how often. Both ways have the same share of each fault.
The receiver is the reference model, or Soft-RoCE in a guest.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from roceproof.common.paths import RECOVERY_DUT
from roceproof.conformance.scenarios.frames.link import FAULTS, Line
from roceproof.conformance.scenarios.frames.receiver import Live
from roceproof.conformance.scenarios.frames.switch import Port, Switch
from roceproof.conformance.scenarios.network import GBPS, SECOND, US
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Row,
    Scene,
    SceneScenario,
    at_least,
    exactly,
    significant,
)
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, DeviceFactory, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.targets.verbs.rxe import RxeFactory
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

_MTU = 256
_LARGEST = 4 * _MTU
_DEPTH = 16
_NEAR_QPN, _FAR_QPN, _START_PSN = 0x11, 0x22, 0xFFFF00
_TIMEOUT = 3
"""33 us, the code of the InfiniBand Architecture."""
_LINE = Line(rate=10 * GBPS, delay=US)
_PATIENCE_NS = SECOND // 1000
"""A second."""
_GUEST = "guest"


def _scenes(quick: bool, seed: int) -> Iterator[Scene]:
    sender = HdlFactory(load_manifest(RECOVERY_DUT))
    for far, share, packets in (
        ("model", 0.01, 1_000 if quick else 10_000),
        ("model", 0.05, 1_000 if quick else 100_000),
        *(() if quick else ((_GUEST, 0.01, 10_000), (_GUEST, 0.05, 10_000))),
    ):
        words: Row = {"far": far, "share": share, "packets": packets}
        yield Scene(words, partial(play, words, sender, seed))


def play(words: Row, sender: DeviceFactory, seed: int, folder: Path) -> Row:
    """One point: what the receiver has executed, how all work ended, and what the lines did."""
    with ExitStack() as stack:
        receiver = RxeFactory() if words["far"] == _GUEST else ModelFactory()
        stack.callback(receiver.close)
        far = stack.enter_context(receiver.device(CasePlace(name="receiver", seed=seed)))
        own = Host(far.host.mac[:-1] + b"\x66", far.host.ip[:-1] + b"\x66")
        near = stack.enter_context(sender.device(CasePlace(name="sender", seed=seed, host=own)))
        lossy = replace(_LINE, shares={what: words["share"] for what in FAULTS})
        plugged = Live(far) if words["far"] == _GUEST else far
        ports = [Port(each, lossy, _LINE) for each in (near, plugged)]
        switch = Switch(ports, seed=seed)
        traffic = _Traffic(near, far, words["packets"], seed)
        switch.run(until=traffic.is_over, most_ns=_PATIENCE_NS)
        switch.run(until=lambda: switch.is_empty, most_ns=_PATIENCE_NS)
        switch.write(folder / f"{words['far']}-{words['share']:.0%}.pcapng")
        done = switch.ups[0].done + switch.ups[1].done
        return {
            "messages": len(traffic.messages),
            **traffic.measured(),
            "sent": switch.sent[0],
            "sent_per_packet": significant(switch.sent[0] / words["packets"]),
            "replies": switch.sent[1],
            **{what: done[what] for what in FAULTS},
        }


class _Traffic:
    """Messages of one connection, some of them outstanding."""

    def __init__(self, near: Target, far: Target, packets: int, seed: int) -> None:
        self._near, self._far = near, far
        draw, self.messages = Random(seed), list[bytes]()
        while packets > 0:
            self.messages.append(draw.randbytes(draw.randint(1, _LARGEST)))
            packets -= -(-len(self.messages[-1]) // _MTU)
        self._ended: list[Outcome] = []
        self._told: list[Outcome] = []
        self._posted, self._offset = 0, 0
        self._region = far.register(sum(map(len, self.messages)))
        both: dict[str, Any] = {"service": Service.RC, "path_mtu": _MTU, "ack_timeout": _TIMEOUT}
        there = QpSpec(
            remote=near.host, local_qpn=_FAR_QPN, remote_qpn=_NEAR_QPN, rq_psn=_START_PSN, **both
        )
        self._there = far.open(there)
        here = QpSpec(
            remote=far.host,
            local_qpn=_NEAR_QPN,
            remote_qpn=self._there.qpn,
            sq_psn=_START_PSN,
            **both,
        )
        self._here = near.open(here)

    def is_over(self) -> bool:
        """Post what may be; whether all has ended."""
        ended = self._near.completions(self._here, count=0, timeout_ns=0)
        self._ended += ended
        if ended or not self._posted:
            self._told += self._far.completions(self._there, count=0, timeout_ns=0)
            while self._posted < min(len(self.messages), len(self._ended) + _DEPTH):
                self._post(self.messages[self._posted])
        return len(self._ended) >= len(self.messages)

    def _post(self, data: bytes) -> None:
        number, region, at = self._posted, self._region, self._offset
        self._far.post_receive(
            self._there, wr_id=number, region=region, offset=at, length=len(data)
        )
        work = Work(
            wr_id=number,
            op=(Op.SEND_IMM, Op.WRITE_IMM)[number % 2],
            data=data,
            remote_addr=region.addr + at,
            rkey=region.rkey,
            immediate=number,
        )
        self._near.post(self._here, work)
        self._posted += 1
        self._offset += len(data)

    def measured(self) -> Row:
        """What came of them."""
        self._told += self._far.completions(self._there, count=0, timeout_ns=0)
        right, at, memory = 0, 0, self._region.read(0, self._region.size)
        for data in self.messages:
            right += memory.startswith(data, at)
            at += len(data)
        ended = [each.wr_id for each in self._ended if each.status == "success"]
        told = [each.immediate for each in self._told if each.status == "success"]
        return {
            "right": right,
            "executed": len(told),
            "executed_out_of_turn": _out_of_turn(told),
            "completed": len(ended),
            "completed_out_of_turn": _out_of_turn(ended),
        }


def _out_of_turn(numbers: Sequence[int | None]) -> int:
    return sum(place != number for place, number in enumerate(numbers))


def _checks(rows: Sequence[Row]) -> Iterator[Check]:
    for row in rows:
        where = f"{row['far']}, {row['share']:.0%} of each fault each way, {row['packets']} packets"
        for what in ("right", "executed", "completed"):
            yield exactly(f"{where}: messages {what}", row["messages"], row[what])
        for what in ("executed", "completed"):
            yield exactly(f"{where}: {what} out of turn", 0, row[f"{what}_out_of_turn"])
        yield at_least(f"{where}: frames sent for a packet", 1, row["sent_per_packet"])
        least = row["share"] * (row["sent"] + row["replies"]) / 2
        for what in FAULTS:
            yield at_least(f"{where}: frames {what}", least, row[what])


ONCE = SceneScenario(
    id="wan-loss-frames",
    title="an endpoint in HDL that repeats, over lines that lose, double, delay and corrupt",
    published="",
    points=_scenes,
    checks=_checks,
    plot=Plot(
        "share",
        "sent_per_packet",
        ("far",),
        "share of each fault, each way",
        "frames sent for a packet",
        log_x=False,
    ),
)

SCENARIOS: tuple[SceneScenario, ...] = (ONCE,)
