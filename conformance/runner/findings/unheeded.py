# SPDX-License-Identifier: BSD-2-Clause
"""What good answers have in common that a device does not heed, and none that it has heeded.

A requester that drops a valid ACK shows nothing but work that never completes. The frame says why:
something in its headers is otherwise than in all frames that were taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from roceproof.conformance.model.responder.rc_answers import ACKNOWLEDGE
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.service import Service

Document = Mapping[str, Any]
_MOST_FRAMES, _FEWEST_CASES, _FEWEST_HEEDED = 8, 3, 30
_HALF = PSN_MODULUS // 2
_IP_AT, _IP_BYTES = 14, 20


class _Feature(NamedTuple):
    """Something that a frame has, in words that stand behind "have", and the rule about it."""

    of: Callable[[bytes, Packet], object]
    words: str
    rule: str


def _carries(frame: bytes, _: Packet) -> int:
    header = frame[_IP_AT : _IP_AT + _IP_BYTES]
    return sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, _IP_BYTES, 2)) >> 16


def _checksum(frame: bytes, _: Packet) -> int:
    return int.from_bytes(frame[_IP_AT + 10 : _IP_AT + 12], "big")


def _bit(value: Callable[[bytes, Packet], int], bit: int) -> Callable[[bytes, Packet], object]:
    return lambda frame, packet: value(frame, packet) >> bit & 1


def _syndrome(_: bytes, packet: Packet) -> int:
    return -1 if packet.aeth is None else packet.aeth.syndrome


_FEATURES = (
    _Feature(_carries, "an IPv4 header whose sum carries {} times", "IP-11"),
    _Feature(_checksum, "the IPv4 header checksum {:#06x}", "IP-11"),
    *(
        _Feature(_bit(_checksum, bit), f"bit {bit} of the IPv4 header checksum at {{}}", "IP-11")
        for bit in range(16)
    ),
    _Feature(lambda f, _: f[_IP_AT + 8], "a TTL of {}", "IP-09"),
    _Feature(lambda f, _: f[_IP_AT + 1] & 3, "the ECN bits {:02b}", "IP-09"),
    _Feature(lambda f, _: f[_IP_AT + 1] >> 2, "DSCP {}", "IP-09"),
    _Feature(lambda _, p: p.udp_sport >> 14, "a UDP source port from {} x 16,384 on", "UDP-07"),
    _Feature(_syndrome, "the syndrome {:#04x}", "AETH-04"),
    _Feature(lambda _, p: p.bth.psn, "the PSN {:#x}", "PSN-16"),
    *(
        _Feature(_bit(lambda _, p: p.bth.psn, bit), f"bit {bit} of the PSN at {{}}", "PSN-16")
        for bit in range(24)
    ),
    *(
        _Feature(_bit(lambda _, p: p.bth.dest_qpn, bit), f"bit {bit} of the QPN at {{}}", "BTH-11")
        for bit in range(24)
    ),
)


def answers_of(bench: Bench, stop: Stop | None) -> dict[str, list[str]]:
    """A few answers that have completed work, and the one that has not, as hexadecimal digits."""
    heeded: list[bytes] = []
    for connection in bench.connections:
        if len(heeded) >= _MOST_FRAMES or not connection.succeeded:
            continue
        answers = list(_answers(connection, bench))
        for message in connection.lives[-1].posted[:_MOST_FRAMES]:
            able = [frame for psn, frame in answers if 0 <= psn - message.last_psn < _HALF]
            if message.work.wr_id in connection.succeeded and len(able) == 1:
                heeded += able
    missed: list[bytes] = []
    if stop is not None and stop.kind is Kind.NO_COMPLETION and stop.message is not None:
        last = stop.message.last_psn
        answers = list(_answers(stop.at, bench)) if isinstance(stop.at, Connection) else []
        missed = [frame for psn, frame in answers if 0 <= psn - last < _HALF][-1:]
    return {"heeded": [*map(bytes.hex, heeded)], "unheeded": [*map(bytes.hex, missed)]}


def in_common(cases: Iterable[Document], others: Iterable[Document]) -> tuple[str, str] | None:
    """Words and rule, if the answers in all these cases have it and none that was heeded."""
    missed = [_features(each) for each in _told(cases, "unheeded")]
    if len(missed) < _FEWEST_CASES:
        return None
    heeded = [_features(each) for each in _told(others, "heeded")]
    if len(heeded) < _FEWEST_HEEDED:
        return None
    for place, feature in enumerate(_FEATURES):
        values = {row[place] for row in missed}
        if len(values) == 1 and values.isdisjoint(row[place] for row in heeded):
            return feature.words.format(*values), feature.rule
    return None


def _told(cases: Iterable[Document], what: str) -> Iterator[bytes]:
    for case in cases:
        yield from map(bytes.fromhex, case.get("answers", {}).get(what, ()))


def _answers(connection: Connection, bench: Bench) -> Iterator[tuple[int, bytes]]:
    """Good ACKs to a queue pair over IPv4, each with its PSN from the start of this life."""
    spec = connection.spec
    if spec.service is not Service.RC or spec.vlan is not None:
        return
    for entry in bench.transcript.entries():
        if entry.is_sent or entry.is_void or entry.flow is not connection.to_device:
            continue
        packet = parse(entry.frame)
        if packet is not None and isinstance(packet.ip, Ipv4) and _is_ack(packet):
            yield (packet.bth.psn - spec.sq_psn) % PSN_MODULUS, entry.frame


def _is_ack(packet: Packet) -> bool:
    return packet.bth.opcode == ACKNOWLEDGE and 0 <= _syndrome(b"", packet) < 0x20


def _features(frame: bytes) -> list[object]:
    packet = parse(frame)
    assert packet is not None
    return [feature.of(frame, packet) for feature in _FEATURES]
