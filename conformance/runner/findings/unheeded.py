# SPDX-License-Identifier: BSD-2-Clause
"""What good frames have in common that a device does not heed, and none that it has heeded.

A requester that drops a valid ACK shows nothing but work that never completes, and a responder that
refuses a valid request says no more than that. The frame says why: something in its headers is
otherwise than in all frames that were taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from roceproof.conformance.model.responder.rc_answers import ACKNOWLEDGE
from roceproof.conformance.runner.findings.received import AROUND, Row, alone, row_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.suite.reporting.transcript import Entry, Epoch
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.opcodes import Family, Transport
from roceproof.conformance.wire.psn import PSN_MODULUS, packet_count
from roceproof.verbs.service import Service

Document = Mapping[str, Any]
ANSWERS, ASKED = "answers", "asked"
_MOST_FRAMES, _MOST_ASKED, _FEWEST_CASES, _FEWEST_HEEDED = 8, 48, 3, 30
_HALF = PSN_MODULUS // 2


def answers_of(bench: Bench, stop: Stop | None) -> dict[str, list[Row]]:
    """A few answers that have completed work, and the one that has not."""
    heeded: list[Row] = []
    for connection in bench.connections:
        if len(heeded) >= _MOST_FRAMES or not connection.succeeded:
            continue
        answers = list(_answers(connection, bench))
        for message in connection.lives[-1].posted[:_MOST_FRAMES]:
            able = [row for psn, row in answers if 0 <= psn - message.last_psn < _HALF]
            if message.work.wr_id in connection.succeeded and len(able) == 1:
                heeded += able
    missed: list[Row] = []
    if stop is not None and stop.kind is Kind.NO_COMPLETION and stop.message is not None:
        last = stop.message.last_psn
        answers = list(_answers(stop.at, bench)) if isinstance(stop.at, Connection) else []
        missed = [row for psn, row in answers if 0 <= psn - last < _HALF][-1:]
    return {"heeded": heeded, "unheeded": missed}


def requests_of(bench: Bench, against: Iterable[Entry] | None) -> dict[str, list[Row]]:
    """A few requests of a case that passed, or the one at which another went wrong.

    `against` are the frames that stand against the device, of a case that failed: it is the last
    request of the first one's PSN, or the last one at all.
    """
    asked = _requests(bench.transcript.epochs)
    if against is None:
        return {"heeded": _rows(islice(asked, _MOST_ASKED)), "unheeded": []}
    first = min(against, key=lambda each: each.time_ns, default=None)
    answer = None if first is None else parse(first.frame)
    before = [each for each in asked if first is None or each[0].time_ns <= first.time_ns]
    named = [each for each in before if answer and answer.bth.psn == each[1].bth.psn]
    return {"heeded": [], "unheeded": _rows((named or before)[-1:])}


def _rows(asked: Iterable[tuple[Entry, Packet, Packet | None]]) -> list[Row]:
    return [row_of(entry.frame, packet, in_front) for entry, packet, in_front in asked]


def in_common(
    what: str, cases: Iterable[Document], others: Iterable[Document]
) -> tuple[str, str] | None:
    """Words and rule, if the frames in all these cases have it and none that was heeded."""
    missed, heeded = _told(what, cases, "unheeded"), _told(what, others, "heeded")
    if len(missed) < _FEWEST_CASES or len(heeded) < _FEWEST_HEEDED:
        return None
    return alone(missed, heeded)


def _told(what: str, cases: Iterable[Document], how: str) -> list[Row]:
    return [row for case in cases for row in case.get(what, {}).get(how, ())]


def _answers(connection: Connection, bench: Bench) -> Iterator[tuple[int, Row]]:
    """Good ACKs to a queue pair over IPv4, each with its PSN from the start of this life."""
    spec = connection.spec
    if spec.service is not Service.RC or spec.vlan is not None:
        return
    for entry in bench.transcript.entries():
        if entry.is_sent or entry.is_void or entry.flow is not connection.to_device:
            continue
        packet = parse(entry.frame)
        if packet is not None and isinstance(packet.ip, Ipv4) and _is_ack(packet):
            yield (packet.bth.psn - spec.sq_psn) % PSN_MODULUS, row_of(entry.frame, packet)


def _is_ack(packet: Packet) -> bool:
    return (
        packet.bth.opcode == ACKNOWLEDGE and packet.aeth is not None and packet.aeth.syndrome < 32
    )


def _requests(epochs: Iterable[Epoch]) -> Iterator[tuple[Entry, Packet, Packet | None]]:
    """Good requests in sequence, each with the one in front of it."""
    expected: dict[int, int] = {}
    in_front: dict[int, Packet] = {}
    for epoch in epochs:
        goes_on = {n for n, row in epoch.qps.items() if "start_psn" not in row}
        expected = {n: psn for n, psn in expected.items() if n in goes_on}
        in_front = {n: packet for n, packet in in_front.items() if n in goes_on}
        expected |= {n: r["remote_start_psn"] for n, r in epoch.qps.items() if n not in goes_on}
        for entry, packet, opcode in epoch.requests():
            qpn, psn = packet.bth.dest_qpn, packet.bth.psn
            is_due = opcode.transport is Transport.UC or psn == expected.get(qpn)
            if is_due and all(rule.startswith(AROUND) for rule in entry.breaks):
                yield entry, packet, in_front.get(qpn)
                read = packet.reth if opcode.family is Family.READ else None
                psns = packet_count(read.length, epoch.qps[qpn]["path_mtu"]) if read else 1
                expected[qpn], in_front[qpn] = (psn + psns) % PSN_MODULUS, packet
