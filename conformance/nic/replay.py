# SPDX-License-Identifier: BSD-2-Clause
"""Asks a device what a capture has asked another one, and keeps what it answers.

Packets go out in the capture's order and with its PSNs, opcodes and payload. What the device
decides is changed (addresses, the queue pair's number, where its memory lies and by which key),
and the ICRC follows; one that was wrong stays wrong, and so does a wrong key.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from roceproof.conformance.nic.answers import last_psn_of, told
from roceproof.conformance.nic.lanes import ATOMIC_BYTES, Asked, Lane, is_wrong
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace, DeviceFactory, Target
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.framing import locate
from roceproof.conformance.wire.headers import AtomicEth, Extension, Reth
from roceproof.conformance.wire.icmp import IPV4_BYTES
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Outcome, Region

Document = dict[str, Any]
SEED = 1
SENDER_MAC = bytes.fromhex("020000000b02")
SENDER_LAST_BYTE = 102
OUR_QPN = 0x4000
MOST_RECEIVES = 500
_KEY_BITS = 0x5A00
_SLICE = 1 << 16


@dataclass
class _Playing:
    """A lane that is being played."""

    lane: Lane
    qp: Qp
    memory: Region
    received: Region
    answers: dict[int, list[str]] = field(default_factory=dict)
    newest: int = 0


def replay(asked: Asked, factory: DeviceFactory, *, due: Document | None = None) -> Document:
    """Play all lanes, interleaved as the capture has them, on one fresh device.

    `due` is what came of them on another one: what it has answered, completed and written is
    waited for longer.
    """
    lanes_due: list[Document] = due["lanes"] if due else [{}] * len(asked.lanes)
    patient = {number for lane in lanes_due for number in _answered(lane)}
    with factory.device(CasePlace(name="replay", seed=SEED)) as target:
        playing = [_open(target, lane, number) for number, lane in enumerate(asked.lanes)]
        is_simulated = Capability.LOCKSTEP in factory.claims.capabilities
        for sent, (number, each, packet) in enumerate(_in_order(playing), start=1):
            target.send(_rewritten(target, each, packet))
            if is_simulated:
                _until_taken(target, sent)
            each.newest = max(each.newest, each.lane.offset_of(packet))
            if packet.bth.ack_req or last_psn_of(packet, each.qp.spec.path_mtu) is not None:
                patience = target.patience
                wait_ns = patience.answer_ns if number in patient else patience.quiet_ns
                each.answers[number] = list(_answers(target, each, packet, wait_ns))
        target.wait(target.patience.quiet_ns)
        lanes = [_outcome(target, *each) for each in zip(playing, lanes_due, strict=True)]
    return {"schema": 1, "left_out": asked.left_out, "lanes": lanes}


def _until_taken(target: Target, sent: int) -> None:
    """Let time pass while any of them is still on the wire."""
    end = target.now_ns + target.patience.answer_ns
    while len(target.taken_ns()) < sent and target.now_ns < end:
        target.wait(target.patience.quiet_ns)


def _in_order(playing: list[_Playing]) -> list[tuple[int, _Playing, Packet]]:
    found = [(n, each, packet) for each in playing for n, packet in each.lane.requests]
    return sorted(found, key=lambda request: request[0])


def _open(target: Target, lane: Lane, number: int) -> _Playing:
    spec = QpSpec(
        service=lane.service,
        remote=Host(SENDER_MAC, target.host.ip[:-1] + bytes([SENDER_LAST_BYTE])),
        remote_qpn=OUR_QPN + number,
        path_mtu=lane.path_mtu,
        rq_psn=lane.first_psn,
    )
    qp = target.open(spec)
    size = lane.memory.size
    playing = _Playing(lane, qp, target.register(size), target.register(lane.longest))
    content = Random(number).randbytes(size)
    for offset in range(0, size, _SLICE):
        playing.memory.write(offset, content[offset : offset + _SLICE])
    for wr_id in range(min(lane.receives, MOST_RECEIVES)):
        target.post_receive(qp, wr_id=wr_id, region=playing.received, length=lane.longest)
    return playing


def _rewritten(target: Target, playing: _Playing, packet: Packet) -> bytes:
    remote, host = playing.qp.spec.remote, target.host
    version = Ipv4 if len(host.ip) == IPV4_BYTES else Ipv6
    frame = build(
        replace(
            packet,
            dst_mac=host.mac,
            src_mac=remote.mac,
            ip=version(remote.ip, host.ip),
            bth=replace(packet.bth, dest_qpn=playing.qp.qpn),
            extensions=tuple(_moved(each, playing) for each in packet.extensions),
            vlans=b"",
        )
    )
    layout = locate(frame)
    if layout is None or not is_wrong(packet):
        return frame
    last = layout.end - 1
    return frame[:last] + bytes([frame[last] ^ 0xFF]) + frame[last + 1 :]


def _moved(header: Extension, playing: _Playing) -> Extension:
    """The header with the address and the key of the device's memory."""
    if not isinstance(header, (Reth, AtomicEth)):
        return header
    length = header.length if isinstance(header, Reth) else ATOMIC_BYTES
    offset, is_right = playing.lane.memory.place(header.address, length, header.rkey)
    key = playing.memory.rkey if is_right else playing.memory.rkey ^ _KEY_BITS
    return replace(header, address=(playing.memory.addr + offset) % (1 << 64), rkey=key)


def _answered(lane: Document) -> list[int]:
    return [int(number) for number, words in lane.get("answers", {}).items() if words]


def _answers(target: Target, playing: _Playing, packet: Packet, wait_ns: int) -> Iterator[str]:
    """What comes until the request is answered, or nothing more does."""
    if playing.lane.service is not Service.RC:
        return
    first, mtu = playing.lane.first_psn, playing.qp.spec.path_mtu
    while (arrival := target.receive(wait_ns)) is not None:
        answer = parse(arrival.frame)
        if answer is None or answer.bth.dest_qpn != playing.qp.spec.remote_qpn:
            continue
        words, is_last = told(answer, packet, first_psn=first, path_mtu=mtu, newest=playing.newest)
        if words:
            yield words
        if is_last:
            return


def _outcome(target: Target, playing: _Playing, due: Document) -> Document:
    lane = playing.lane
    done = _completions(target, playing, due)
    return {
        "service": lane.service.name,
        "path_mtu": playing.qp.spec.path_mtu,
        "requests": len(lane.requests),
        "answers": {str(number): words for number, words in playing.answers.items()},
        "completions": [
            f"{each.status} {each.byte_len} bytes"
            + (f", immediate {each.immediate:#x}" if each.immediate is not None else "")
            for each in done
        ],
        **_memory(target, playing, due),
    }


def _completions(target: Target, playing: _Playing, due: Document) -> list[Outcome]:
    wanted, patience = min(playing.lane.receives, MOST_RECEIVES), target.patience
    done: list[Outcome] = []
    steps = (len(due.get("completions", ())), patience.answer_ns), (wanted, patience.quiet_ns)
    for count, wait_ns in steps:
        if len(done) < count:
            done += target.completions(playing.qp, count=count - len(done), timeout_ns=wait_ns)
    return done


def _memory(target: Target, playing: _Playing, due: Document) -> Document:
    """As it is, or will be when what nobody is told of has been written."""
    found = _digests(playing)
    if any(due.get(name, value) != value for name, value in found.items()):
        target.wait(target.patience.answer_ns)
        return _digests(playing)
    return found


def _digests(playing: _Playing) -> Document:
    return {
        "memory": _digest(playing.memory, playing.lane.memory.size),
        "received": _digest(playing.received, playing.lane.longest),
    }


def _digest(region: Region, size: int) -> str:
    total = hashlib.sha256()
    for offset in range(0, size, _SLICE):
        total.update(region.read(offset, min(_SLICE, size - offset)))
    return total.hexdigest()[:16]


def differences(a: Document, b: Document) -> list[str]:
    """In which answers, completions and memory two devices differ; empty if in none."""
    found = []
    for number, (one, other) in enumerate(zip(a["lanes"], b["lanes"], strict=True), start=1):
        for frame, words in one["answers"].items():
            if words != other["answers"].get(frame):
                theirs = other["answers"].get(frame, [])
                found.append(f"frame {frame}: {_words(words)}; {_words(theirs)}")
        for name in ("completions", "memory", "received"):
            if one[name] != other[name]:
                found.append(f"queue pair {number}: {name}: {one[name]}; {other[name]}")
    return found


def _words(words: list[str]) -> str:
    return ", ".join(words) or "no answer"
