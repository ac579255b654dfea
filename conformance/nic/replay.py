# SPDX-License-Identifier: BSD-2-Clause
"""Asks a device what a capture has asked another one, and keeps what it answers.

Packets go out in the capture's order and with its PSNs, opcodes and payload. What the device
decides is changed (addresses, the queue pair's number, where its memory lies and by which key),
and the ICRC follows; one that was wrong stays wrong, and so does a wrong key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from roceproof.conformance.nic.answers import last_psn_of, told
from roceproof.conformance.nic.lanes import Asked, Lane, is_wrong
from roceproof.conformance.targets.interface import CasePlace, DeviceFactory, Target
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.framing import locate
from roceproof.conformance.wire.headers import AtomicEth, Extension, Reth
from roceproof.conformance.wire.icmp import IPV4_BYTES
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Region

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


def replay(asked: Asked, factory: DeviceFactory) -> Document:
    """Play all lanes, interleaved as the capture has them, on one fresh device."""
    with factory.device(CasePlace(name="replay", seed=SEED)) as target:
        playing = [_open(target, lane, number) for number, lane in enumerate(asked.lanes)]
        for number, each, packet in _in_order(playing):
            target.send(_rewritten(target, each, packet))
            each.newest = max(each.newest, each.lane.offset_of(packet))
            if packet.bth.ack_req or last_psn_of(packet, each.qp.spec.path_mtu) is not None:
                each.answers[number] = list(_answers(target, each, packet))
        target.wait(target.patience.quiet_ns)
        lanes = [_outcome(target, each) for each in playing]
    return {"schema": 1, "left_out": asked.left_out, "lanes": lanes}


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
    playing = _Playing(lane, qp, target.register(lane.span), target.register(lane.longest))
    content = Random(number).randbytes(lane.span)
    for offset in range(0, lane.span, _SLICE):
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
    lane, memory = playing.lane, playing.memory
    key = memory.rkey if header.rkey == lane.key else memory.rkey ^ _KEY_BITS
    return replace(header, address=(header.address - lane.base + memory.addr) % (1 << 64), rkey=key)


def _answers(target: Target, playing: _Playing, packet: Packet) -> Iterator[str]:
    """What comes until the request is answered, or nothing more does."""
    if playing.lane.service is not Service.RC:
        return
    first, mtu = playing.lane.first_psn, playing.qp.spec.path_mtu
    while (arrival := target.receive(target.patience.quiet_ns)) is not None:
        answer = parse(arrival.frame)
        if answer is None or answer.bth.dest_qpn != playing.qp.spec.remote_qpn:
            continue
        words, is_last = told(answer, packet, first_psn=first, path_mtu=mtu, newest=playing.newest)
        if words:
            yield words
        if is_last:
            return


def _outcome(target: Target, playing: _Playing) -> Document:
    lane = playing.lane
    wanted = min(lane.receives, MOST_RECEIVES)
    quiet = target.patience.quiet_ns
    done = target.completions(playing.qp, count=wanted, timeout_ns=quiet) if wanted else []
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
        "memory": _digest(playing.memory, lane.span),
        "received": _digest(playing.received, lane.longest),
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
