# SPDX-License-Identifier: BSD-2-Clause
"""One endpoint in HDL that writes on RC to one receiver, and what the judges say of its frames.

The receiver is the reference model, the endpoint again, or Soft-RoCE in a guest. Each regime
leaves a capture and the configured facts of its queue pairs, in which `roceproof check --qps` and
`roceproof explain --qps` find what stands in its row.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from random import Random
from typing import Any

from roceproof.common.paths import RESPONDER_DUT
from roceproof.common.whole_file import whole_file
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.diagnosis.report import explain
from roceproof.conformance.model.codes import AethType
from roceproof.conformance.mutants.rtl import (
    MUTANTS,
    OVERLAY,
    Mutants,
    load_mutants,
    reference_mutants,
)
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.observer.facts import Facts
from roceproof.conformance.rules.findings import Direction
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.scenarios.frames.pair import Loss, Pair, carries_all
from roceproof.conformance.scenarios.scenario import Row, Scene
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, DeviceFactory, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.targets.verbs.rxe import RxeFactory
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.headers import Aeth
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

HISTORY = MUTANTS / "history"
_THEMES = ("icrc_mask.toml", "icrc_result.toml")
"""Whose declarations the faults of HISTORY use."""
_WIDTH = 64
_NEAR_QPN, _FAR_QPN = 0x11, 0x22
START_PSN = 0xC0FFEE
_TIMEOUT = 5
"""131 us, and retries; the code of the InfiniBand Architecture."""
_PATIENCE_NS = 3_000_000


def endpoint(fault: str = "") -> HdlFactory:
    """The endpoint with its responder, healthy or with a fault of HISTORY; all share one build."""
    faults = load_mutants(HISTORY).mutants
    shared = tuple(each for each in load_mutants().shared if each[0] in _THEMES)
    manifest = reference_mutants(
        Mutants(faults, shared), dut=RESPONDER_DUT, overlay=OVERLAY / HISTORY.name
    )
    plusargs = [mutant.plusarg for mutant in faults if mutant.id == fault]
    return HdlFactory(manifest, data_width=_WIDTH, plusargs=plusargs)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One endpoint that writes to one receiver."""

    name: str
    fault: str = ""
    """Of HISTORY, of what sends."""
    twin: str | None = None
    """The fault of a receiver in HDL; None where it is the reference model."""
    is_live: bool = False
    """Whether the receiver is Soft-RoCE in a guest."""
    own_psn: int = 0x000100
    """Which the sender's queue pair expects; START_PSN is what the receiver expects."""
    swaps_psns: bool = False
    """Whether the sender's software takes the one for the other."""
    mtu: int = 1024
    size: int = 2500
    messages: int = 12
    ip_mtu: int | None = None
    """Of the network between them, which drops what is longer."""
    words: Row = field(default_factory=dict)
    """What its row says besides."""


def scenes(trials: Iterable[Trial], seed: int) -> Iterator[Scene]:
    """One scene of each."""
    for trial in trials:
        words = {"regime": trial.name, **trial.words, "messages": trial.messages}
        yield Scene(words, partial(_play, trial, seed))


def _play(trial: Trial, seed: int, folder: Path) -> Row:
    place = CasePlace(name=trial.name, seed=seed)
    receiver = _receiver(trial)
    try:
        with receiver.device(place) as far:
            address = Host(far.host.mac[:-1] + b"\x66", far.host.ip[:-1] + b"\x66")
            with endpoint(trial.fault).device(replace(place, host=address)) as near:
                return meet(trial, seed, folder, near, far)
    finally:
        receiver.close()


def _receiver(trial: Trial) -> DeviceFactory:
    if trial.is_live:
        return RxeFactory()
    return ModelFactory() if trial.twin is None else endpoint(trial.twin)


def meet(trial: Trial, seed: int, folder: Path, near: Target, far: Target) -> Row:
    """What came of a trial between these two."""
    loses = _narrow(trial.ip_mtu) if trial.ip_mtu else carries_all
    pair = Pair(near, far, loses=loses, is_live=trial.is_live)
    own, other = _specs(trial, near.host, far.host)
    other = replace(other, local_qpn=far.open(other).qpn)
    own = replace(own, remote_qpn=other.local_qpn)
    qp = near.open(own)
    region = far.register(trial.messages * trial.size)
    draw = Random(seed)
    data = [draw.randbytes(trial.size) for _ in range(trial.messages)]
    for number, each in enumerate(data):
        place = region.addr + number * trial.size
        near.post(
            qp, Work(wr_id=number, op=Op.WRITE, data=each, remote_addr=place, rkey=region.rkey)
        )
    ended: list[Outcome] = []

    def all_ended() -> bool:
        ended.extend(near.completions(qp, count=0, timeout_ns=0))
        return len(ended) == trial.messages

    pair.run(until=all_ended, most_ns=_PATIENCE_NS)
    facts = facts_of(near.host, far.host, [(own, other)], ip_mtu=trial.ip_mtu)
    keep(pair, facts, folder / trial.name)
    memory = region.read(0, trial.messages * trial.size)
    size = trial.size
    return {
        "landed": sum(memory[number * size :][:size] == each for number, each in enumerate(data)),
        "acknowledged": sum(each.status == "success" for each in ended),
        "dropped": pair.dropped,
        "naks": sum(_is_nak(record) for record in pair.records),
        "ended_as": " ".join(sorted({each.status for each in ended})),
        **verdict(pair.records, facts),
    }


def _narrow(ip_mtu: int) -> Loss:
    def loses(frame: bytes) -> str:
        longer = len(frame) - 14 > ip_mtu
        return f"dropped: longer than the network's MTU of {ip_mtu}" if longer else ""

    return loses


def _specs(trial: Trial, near: Host, far: Host) -> tuple[QpSpec, QpSpec]:
    timing: dict[str, Any] = {"ack_timeout": _TIMEOUT, "path_mtu": trial.mtu, "service": Service.RC}
    return (
        QpSpec(
            remote=far,
            local_qpn=_NEAR_QPN,
            remote_qpn=_FAR_QPN,
            sq_psn=trial.own_psn if trial.swaps_psns else START_PSN,
            rq_psn=trial.own_psn,
            **timing,
        ),
        QpSpec(
            remote=near,
            local_qpn=_FAR_QPN,
            remote_qpn=_NEAR_QPN,
            sq_psn=trial.own_psn,
            rq_psn=START_PSN,
            **timing,
        ),
    )


def facts_of(
    near: Host,
    far: Host,
    connections: Iterable[tuple[QpSpec, QpSpec]],
    *,
    ip_mtu: int | None = None,
) -> dict[str, Any]:
    """What was agreed on, whatever the near end has made of it: the far end expects so."""
    rows = [
        {
            "service": own.service.name,
            "address": str(ip_address(near.ip)),
            "qpn": own.local_qpn,
            "start_psn": other.rq_psn,
            "remote_address": str(ip_address(far.ip)),
            "remote_qpn": other.local_qpn,
            "remote_start_psn": own.rq_psn,
            "path_mtu": own.path_mtu,
        }
        for own, other in connections
    ]
    return {"schema": 1, "qps": rows} | ({"mtu": ip_mtu} if ip_mtu else {})


def keep(pair: Pair, facts: dict[str, Any], place: Path) -> None:
    """Leave a capture there, and beside it what `--qps` takes."""
    pair.write(place.with_suffix(".pcapng"))
    with whole_file(place.with_suffix(".qps.json")) as part:
        part.write_text(json.dumps(facts, indent=1) + "\n")


def _is_nak(record: Record) -> bool:
    packet = parse(record.frame)
    aeth = packet.extension(Aeth) if packet else None
    return aeth is not None and aeth.syndrome >> 5 == AethType.NAK


def verdict(records: Sequence[Record], facts: dict[str, Any]) -> Row:
    """The rules that frames break, and the names that `explain` gives."""
    checker = Checker(Facts.from_json(facts))
    findings = []
    for record in records:
        way = Direction.SENT if record.flow is Flow.OUTBOUND else Direction.RECEIVED
        findings += checker.feed(record.frame, way)
    findings += checker.finish()
    rules = {each.rule.id for each in findings if each.severity is Severity.MUST}
    names = {each.id for each in explain(records, facts)}
    return {"rules": " ".join(sorted(rules)), "names": " ".join(sorted(names))}
