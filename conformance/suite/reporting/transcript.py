# SPDX-License-Identifier: BSD-2-Clause
"""Everything that passed between a case and its device: to be judged, shown and kept."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

from roceproof.common.whole_file import whole_file
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.opcodes import OPCODES, REQUESTS, Opcode
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp

Facts = dict[str, Any]
DAMAGED = "damaged"
"""The comment of a frame that the MAC finds damaged."""


class Entry(NamedTuple):
    """One frame. `is_sent` says that the device sent it.

    `is_void` says that the device must drop it, so that nobody may hold anything against it.
    """

    time_ns: int
    is_sent: bool
    frame: bytes
    comment: str = ""
    is_void: bool = False
    flow: FlowCodec | None = None
    """The direction of the connection that it belonged to then."""
    fcs: bytes = b""
    breaks: frozenset[str] = frozenset()
    """The rules that the case means it to break."""


@dataclass
class Epoch:
    """Frames between two changes of a connection, with what was configured then."""

    entries: list[Entry] = field(default_factory=list)
    qps: dict[int, dict[str, Any]] = field(default_factory=dict)

    def requests(self) -> Iterator[tuple[Entry, Packet, Opcode]]:
        """Those that the device must heed, each with what it is."""
        for entry in self.entries:
            if request := request_of(entry):
                yield entry, *request

    def facts(self) -> Facts:
        """The document that docs/observer.md describes in section 6."""
        return {"schema": 1, "qps": list(self.qps.values())}


def request_of(entry: Entry) -> tuple[Packet, Opcode] | None:
    """A request that the device must heed, and what it is."""
    packet = None if entry.is_sent or entry.is_void else parse(entry.frame)
    opcode = OPCODES.get(packet.bth.opcode) if packet is not None else None
    if packet is None or opcode is None or opcode.family not in REQUESTS:
        return None
    return packet, opcode


class Transcript:
    """The frames of one case in their order. A queue pair that starts anew starts an epoch."""

    def __init__(self) -> None:
        self.epochs = [Epoch()]

    def add(self, entry: Entry) -> None:
        """Note one frame, in its place by time: on the wall's clock some are read late."""
        entries = self.epochs[-1].entries
        at = len(entries)
        while at and entries[at - 1].time_ns > entry.time_ns:
            at -= 1
        entries.insert(at, entry)

    def power_on(self) -> None:
        """The device is new: nothing was configured."""
        self.epochs.append(Epoch())

    def know(self, qp: Qp, device: Host) -> None:
        """Note a queue pair's configuration; one that takes another's place begins a new epoch.

        The others go on in it from wherever they are.
        """
        row, epoch = _row(qp, device), self.epochs[-1]
        replaced = [qpn for qpn, other in epoch.qps.items() if _is_in_place_of(row, other)]
        if replaced and epoch.entries:
            started = {qpn: _without_starts(other) for qpn, other in epoch.qps.items()}
            epoch = Epoch(qps=started)
            self.epochs.append(epoch)
        for qpn in replaced:
            del epoch.qps[qpn]
        epoch.qps[qp.qpn] = row

    def entries(self) -> Iterator[Entry]:
        """All frames of all epochs."""
        for epoch in self.epochs:
            yield from epoch.entries

    def next_psns(self, *, but: int) -> set[int]:
        """Of the device's queue pairs the PSN behind the last request, or the first of all.

        Not of the one whose far side has the number `but`.
        """
        following = {
            row["remote_qpn"]: row["start_psn"]
            for epoch in self.epochs
            for row in epoch.qps.values()
            if "start_psn" in row
        }
        for entry in self.entries():
            packet = parse(entry.frame) if entry.is_sent else None
            row = packet and OPCODES.get(packet.bth.opcode)
            if packet is not None and row and not row.is_response:
                following[packet.bth.dest_qpn] = (packet.bth.psn + 1) % PSN_MODULUS
        following.pop(but, None)
        return {*following.values()}

    def write(self, path: Path, *, comment: str) -> None:
        """Keep it as pcapng, with the facts of its last epoch beside it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_pcapng(path, records_of(self.entries()), comment=comment)
        facts = json.dumps(self.all_facts(), indent=1)
        with whole_file(path.with_suffix(".qps.json")) as part:
            part.write_text(facts + "\n")

    def all_facts(self) -> Facts:
        """What held for each connection all the time; start PSNs only where they never changed."""
        rows: dict[tuple[int, str, int], dict[str, Any]] = {}
        for epoch in self.epochs:
            for row in epoch.qps.values():
                ends = (row["qpn"], row["remote_address"], row["remote_qpn"])
                known = rows.setdefault(ends, dict(row))
                for name in [name for name, value in known.items() if row.get(name) != value]:
                    del known[name]
        return {"schema": 1, "qps": [row for row in rows.values() if "service" in row]}


def records_of(entries: Iterable[Entry]) -> Iterator[Record]:
    """Frames as the packets of a capture, numbered from 1."""
    for number, entry in enumerate(entries, start=1):
        flow = Flow.OUTBOUND if entry.is_sent else Flow.INBOUND
        yield Record(
            "device", entry.time_ns, flow, entry.frame, comment=entry.comment, number=number
        )


def _without_starts(row: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k not in ("start_psn", "remote_start_psn")}


def _is_in_place_of(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether it has the other's number, or its far end: requests say no more of whose they are."""
    ends = ("service", "remote_address", "remote_qpn")
    is_of_one_end = row["service"] != "UD" and all(row[name] == other[name] for name in ends)
    return row["qpn"] == other["qpn"] or is_of_one_end


def _row(qp: Qp, device: Host) -> dict[str, Any]:
    spec = qp.spec
    return {
        "service": spec.service.name,
        "address": str(ip_address(device.ip)),
        "qpn": qp.qpn,
        "remote_address": str(ip_address(spec.remote.ip)),
        "remote_qpn": spec.remote_qpn,
        "start_psn": spec.sq_psn,
        "remote_start_psn": spec.rq_psn,
        "path_mtu": spec.path_mtu,
        "dscp": spec.traffic_class >> 2,
        "ttl": spec.hop_limit,
    }
