# SPDX-License-Identifier: BSD-2-Clause
"""Four endpoints in HDL write through a switch into one receiver, over up to 2,048 queue pairs.

UC WRITE with immediate at path MTU 4096. Every byte is compared, and every immediate; what the
links harmed is known frame by frame. The receiver is the reference model, or Soft-RoCE in a guest.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.model.device import Device
from roceproof.conformance.scenarios.frames.guest import guest
from roceproof.conformance.scenarios.frames.link import CORRUPT, FAULTS, LATE, LOST, TWICE, Line
from roceproof.conformance.scenarios.frames.receiver import Receiver, Server
from roceproof.conformance.scenarios.frames.switch import Port, Switch
from roceproof.conformance.scenarios.line import line_bytes
from roceproof.conformance.scenarios.network import GBPS, US
from roceproof.conformance.scenarios.scenario import (
    Check,
    Plot,
    Row,
    Scene,
    SceneScenario,
    at_least,
    at_most,
    exactly,
    significant,
    within,
)
from roceproof.conformance.targets.drawn_address import drawn_address
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, Target
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.ip import CE
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region, Work

_KIB = 1 << 10
_MTU = 4096
_SENDERS, _MOST = 4, 512
"""Endpoints, and the queue pairs that each is built for."""
_LINE = 10 * GBPS
_PACED = 9_200_000_000
"""Of each sender's port, as 23 of 25 Gb/s."""
_DELAY = US
_PATIENCE_NS = 100_000_000
_NARROW = Line(rate=2 * _LINE, delay=_DELAY, buffer=64 * _KIB)
_PAUSING = replace(_NARROW, xoff=24 * _KIB, xon=16 * _KIB)
"""Two delays and a frame of a sender are 5.5 us: the queue drains by 14 KB until it fills again."""
_MARKING = replace(_NARROW, mark=24 * _KIB)
"""Of three queue pairs one says ECT(0), one ECT(1), and one nothing."""
_WIDE = Line(rate=_SENDERS * _LINE, delay=_DELAY)
_FIRST_QPN = 0x1000


@dataclass(frozen=True)
class _Mode:
    """The senders' lines, and the receiver's."""

    up: Line
    down: Line
    is_shared: bool = False
    """Whether all queue pairs take receives from one queue."""
    is_live: bool = False
    """Whether the receiver is Soft-RoCE."""


_PLAIN = Line(rate=_LINE, delay=_DELAY)
_CHOSEN = {(_FIRST_QPN, 0): LOST, (_FIRST_QPN + 1, 1): CORRUPT, (_FIRST_QPN + 2, 2): LOST}
_SLOW = replace(_PLAIN, rate=_PACED)
_MODES = {
    "paced": _Mode(_SLOW, _WIDE),
    "shared": _Mode(_SLOW, _WIDE, is_shared=True),
    "guest": _Mode(_SLOW, _WIDE, is_shared=True, is_live=True),
    "narrow": _Mode(_PLAIN, _NARROW),
    "pfc": _Mode(_PLAIN, _PAUSING),
    "marked": _Mode(_PLAIN, _MARKING),
    "lossy": _Mode(replace(_PLAIN, shares={LOST: 0.01, CORRUPT: 0.01}), _WIDE),
    "chosen": _Mode(replace(_PLAIN, chosen=_CHOSEN), _WIDE),
    "disorder": _Mode(replace(_PLAIN, shares={LATE: 0.05, TWICE: 0.05}), _WIDE),
    "worst": _Mode(replace(_PLAIN, shares=dict.fromkeys(FAULTS, 0.05)), _WIDE),
}

_REORDERED = ("disorder", "worst")
"""Where messages are lost that no link has harmed."""


def _scenes(quick: bool, seed: int) -> Iterator[Scene]:
    counts = (4, 40) if quick else (4, 40, 400, 2000)
    for qps, size in product(counts, (8 * _KIB, 16 * _KIB)):
        yield _scene("paced", qps, size, seed, quick=quick)
    for mode in ("shared", "narrow", "pfc", "marked", "lossy", "chosen", *_REORDERED):
        yield _scene(mode, 40, 8 * _KIB, seed, quick=quick)
    if not quick:
        yield _scene("guest", _SENDERS * _MOST, 16 * _KIB, seed, quick=quick)


def _scene(mode: str, qps: int, size: int, seed: int, *, quick: bool) -> Scene:
    messages = qps * max(2, (80 if quick else 400) // qps)
    words: Row = {"mode": mode, "qps": qps, "size": size, "messages": messages}
    return Scene(words, partial(play, words, seed))


def _endpoint() -> HdlFactory:
    """The reference endpoint with more queue pairs."""
    manifest = load_manifest(REFERENCE_DUT)
    parameters = {**manifest.circuit.parameters, "Qps": str(_MOST)}
    circuit = replace(manifest.circuit, parameters=parameters)
    return HdlFactory(replace(manifest, circuit=circuit))


@dataclass
class _Flow:
    """One queue pair of a sender and its far end."""

    sender: Target
    qp: Qp
    far: Qp
    region: Region
    data: list[bytes]


def play(words: Row, seed: int, folder: Path) -> Row:
    """One point: how many messages landed, and what links and queues did to them."""
    mode, each = _MODES[words["mode"]], words["messages"] // words["qps"]
    with ExitStack() as stack:
        receiver = stack.enter_context(_receiver(mode, words, seed))
        own = receiver.host
        hosts = [
            Host(own.mac[:-1] + bytes([0xA0 + n]), own.ip[:-1] + bytes([102 + n]))
            for n in range(_SENDERS)
        ]
        places = [CasePlace(name=f"sender {n}", seed=seed, host=h) for n, h in enumerate(hosts)]
        senders = [stack.enter_context(_endpoint().device(place)) for place in places]
        draw = Random(seed)
        flows = []
        for number in range(words["qps"]):
            data = [draw.randbytes(words["size"]) for _ in range(each)]
            psn = draw.getrandbits(24)
            flows.append(_flow(senders[number % _SENDERS], receiver, number, psn, data, mode))
        ports = [Port(sender, mode.up, _WIDE) for sender in senders]
        switch = Switch([*ports, Port(receiver, _WIDE, mode.down)], seed=seed)
        for place in range(each):
            for number, flow in enumerate(flows):
                _post(flow, number, place)
        packets = words["messages"] * words["size"] // _MTU
        switch.run(
            until=lambda: sum(switch.sent[:-1]) == packets and switch.is_empty,
            most_ns=_PATIENCE_NS,
        )
        switch.write(folder / f"{words['mode']}-{words['qps']}-{words['size']}.pcapng")
        receiver.settle(words["messages"])
        return _measured(words, flows, receiver, switch)


def _receiver(mode: _Mode, words: Row, seed: int) -> AbstractContextManager[Receiver]:
    if mode.is_live:
        return guest(CasePlace(name=words["mode"], seed=seed), receives=words["messages"])
    return nullcontext(Server(Device(drawn_address(seed))))


def _flow(
    sender: Target, receiver: Receiver, number: int, psn: int, data: list[bytes], mode: _Mode
) -> _Flow:
    both: dict[str, Any] = {"service": Service.UC, "path_mtu": _MTU}
    here = _MOST + number // _SENDERS
    spec = QpSpec(
        remote=sender.host,
        local_qpn=_FIRST_QPN + number,
        remote_qpn=here,
        rq_psn=psn,
        shared_receive=mode.is_shared,
        **both,
    )
    far = receiver.open(spec)
    region = receiver.register(sum(map(len, data)))
    receiver.post_receives(far, len(data))
    own = QpSpec(
        remote=receiver.host,
        local_qpn=here,
        remote_qpn=far.qpn,
        sq_psn=psn,
        traffic_class=_traffic_class(number) if mode.down.mark else 0,
        **both,
    )
    return _Flow(sender, sender.open(own), far, region, data)


def _traffic_class(number: int) -> int:
    """Of a queue pair where the switch marks: not-ECT, ECT(1) or ECT(0)."""
    return number % CE


def _post(flow: _Flow, number: int, place: int) -> None:
    data = flow.data[place]
    work = Work(
        wr_id=place,
        op=Op.WRITE_IMM,
        data=data,
        remote_addr=flow.region.addr + place * len(data),
        rkey=flow.region.rkey,
        immediate=number << 16 | place,
    )
    flow.sender.post(flow.qp, work)


def _measured(words: Row, flows: Sequence[_Flow], receiver: Receiver, switch: Switch) -> Row:
    missing, wrong, landed = set(), 0, 0
    for number, flow in enumerate(flows):
        told = [each.immediate for each in receiver.received(flow.far)]
        memory = flow.region.read(0, flow.region.size)
        for place, data in enumerate(flow.data):
            immediate = number << 16 | place
            has_landed = memory[place * len(data) :][: len(data)] == data
            landed += has_landed
            wrong += immediate in told and not has_landed
            if immediate in told:
                told.remove(immediate)
            else:
                missing.add(immediate)
        wrong += len(told)  # of no message, or of one that was told before
    return {
        "landed": landed,
        "flagged": len(missing),
        "harmed": len(harmed := _messages(switch.harmed, words, flows)),
        "flagged_elsewhere": len(missing - harmed),
        "harmed_told": len(harmed - missing),
        "wrong": wrong,
        "dropped": sum(link.dropped for link in (*switch.ups, *switch.downs)),
        "peak": switch.downs[-1].peak,
        "pauses": switch.pauses,
        "marked": len(marks := switch.downs[-1].marked),
        "marked_qps": len(marked := {each >> 16 for each in _messages(marks, words, flows)}),
        "marked_not_ect": sum(_traffic_class(number) == 0 for number in marked),
        "cnps": switch.sent[-1],
        "line_gbps": significant(switch.downs[-1].line_rate() / GBPS),
    }


def _messages(frames: Iterable[bytes], words: Row, flows: Sequence[_Flow]) -> set[int]:
    """The messages of which these are packets, by their immediates."""
    found, numbers = set(), {flow.far.qpn: number for number, flow in enumerate(flows)}
    for frame in frames:
        packet = parse(frame)
        assert packet is not None
        number = numbers[packet.bth.dest_qpn]
        psns = (packet.bth.psn - flows[number].far.spec.rq_psn) % PSN_MODULUS
        found.add(number << 16 | psns // (words["size"] // _MTU))
    return found


def _checks(rows: Sequence[Row]) -> Iterator[Check]:
    frame = line_bytes(_MTU, _MTU, immediate=True)
    for row in rows:
        where = f"{row['mode']}, {row['qps']} queue pairs, {row['size']} bytes"
        yield exactly(f"{where}: landed wrong", 0, row["wrong"])
        yield exactly(f"{where}: harmed and not flagged", 0, row["harmed_told"])
        if row["mode"] not in _REORDERED:
            yield exactly(f"{where}: flagged and not harmed", 0, row["flagged_elsewhere"])
        mode = _MODES[row["mode"]]
        if mode.up is _SLOW:
            due = _SENDERS * _PACED / GBPS
            yield within(f"{where}: four times the pace", due, row["line_gbps"], of=0.01)
            most = _SENDERS * frame
            yield at_most(f"{where}: the queue holds a frame of each", most, row["peak"])
        if mode.up is _SLOW or mode.down.xoff:
            yield exactly(f"{where}: landed", row["messages"], row["landed"])
        elif row["mode"] == "chosen":
            yield exactly(f"{where}: harmed", len(_CHOSEN), row["harmed"])
        else:
            yield at_least(f"{where}: flagged", 1, row["flagged"])
        if mode.down.rate == _NARROW.rate:
            yield within(f"{where}: the line", 2 * _LINE / GBPS, row["line_gbps"], of=0.01)
        if mode.down.xoff:
            yield at_least(f"{where}: pauses", 2, row["pauses"])
        if mode.down.mark:
            yield at_least(f"{where}: marked", 1, row["marked"])
            yield at_least(f"{where}: CNPs, one of each", row["marked_qps"], row["cnps"])
        yield exactly(f"{where}: marked, but not capable of it", 0, row["marked_not_ect"])


MANY = SceneScenario(
    id="daq-many-frames",
    title="four endpoints in HDL through a switch into one receiver, byte by byte",
    published="every byte over 4 to 2000 queue pairs; torn messages consume no receive",
    points=_scenes,
    checks=_checks,
    plot=Plot("qps", "line_gbps", ("mode", "size"), "queue pairs", "what arrives (Gb/s of line)"),
)

SCENARIOS: tuple[SceneScenario, ...] = (MANY,)
