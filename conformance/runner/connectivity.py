# SPDX-License-Identifier: BSD-2-Clause
"""The first questions to a device: does a frame come out, is it found, does it keep its order?

Each has a fresh device. What fails here explains most of what a suite would find, in seconds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from roceproof.conformance.rules.signatures import title
from roceproof.conformance.runner.attribution.control import Controls, skeleton_of
from roceproof.conformance.runner.attribution.first_difference import first_difference
from roceproof.conformance.runner.attribution.narrowing import cause_of
from roceproof.conformance.runner.attribution.rule_attribution import blame
from roceproof.conformance.runner.findings.ports import DEAF, OF_WORK, of_a_refusal
from roceproof.conformance.runner.findings.whole_run import said_of_one
from roceproof.conformance.runner.judging.evidence import explained, names_of
from roceproof.conformance.runner.judging.scoreboard import judgement
from roceproof.conformance.runner.outcomes import FAILED, PASSED, SKIPPED
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.skips import PREFIX
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.packet_flow import SUCCESS
from roceproof.conformance.suite.pattern import ACK, SEND_ONLY, WRITE_ONLY
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import of_death
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.suite.reporting.frame_timeline import FRAMES_SEEN
from roceproof.conformance.suite.traffic.storm_crowd import operations
from roceproof.conformance.targets.bus_events import Completed, Movement, Sent
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.hdl.allowance import within_processor_seconds
from roceproof.conformance.targets.interface import (
    Beyond,
    CasePlace,
    Claims,
    DeviceDied,
    DeviceFactory,
)
from roceproof.conformance.targets.ping import wrong_answer
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import locate
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

_MESSAGES, _PACKETS, _STALL = 4, 3, 90
_LAST_FRAMES = 6
_REQUEST_BYTES = 64
_SERVED = frozenset({Op.WRITE, Op.SEND})
_MOST_RULES = 3
_ACCUSED = {"ping": ("LIVE-01",)}
"""What is broken where a question has an answer, and a wrong one."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What came of one question."""

    name: str
    says: str
    outcome: str
    words: str = ""
    broken: tuple[str, ...] = ()
    """The rules that what failed accuses, that of what was wrong first in front."""
    explained: str = ""
    """What `explain` makes of its frames."""


def check_connectivity(
    factory: DeviceFactory,
    *,
    seed: int,
    capture: Callable[[str], Path] | None = None,
    simulated: bool = False,
) -> Iterator[Check]:
    """Each question in turn, as long as the answers so far let others tell more.

    `capture` says where the frames of a question that fails are kept, by its name; `simulated`
    whether they are seen as a simulated device drives them.
    """
    told: list[Check] = []
    for name in _QUESTIONS:
        if name == "request" and Capability.RESPONDER not in factory.claims.capabilities:
            continue
        told.append(_asked(factory, name, seed, capture(name) if capture else None, simulated))
        yield told[-1]
        if not is_alive(told):
            return


def is_alive(checks: Sequence[Check]) -> bool:
    """Whether a suite tells more: of a device that sends, or else answers, something has come."""
    return not first_fails({check.name: check.outcome for check in checks})


def first_fails(outcomes: Mapping[str, str]) -> bool:
    """Whether nothing comes of such a device, by the outcomes of the questions."""
    return outcomes.get(_first(outcomes)) == FAILED


def told_first(outcomes: Mapping[str, str]) -> str:
    """What such a device fails with, by the outcomes of the questions: message or request."""
    return {"frame": "message", "request": "request"}[_first(outcomes)]


def _first(outcomes: Mapping[str, str]) -> str:
    return "frame" if outcomes["frame"] != SKIPPED else "request"


def _asked(
    factory: DeviceFactory, name: str, seed: int, capture: Path | None, simulated: bool
) -> Check:
    says, ask = _QUESTIONS[name]
    passed = Check(name=name, says=says, outcome=PASSED)
    failed = replace(passed, outcome=FAILED)
    try:
        with factory.device(CasePlace(name="connectivity", seed=seed)) as target:
            is_watched, controls = target.watch(), Controls(factory)
            bench = Bench(target, factory.claims, seed=seed)
            try:
                with within_processor_seconds():
                    problem = ask(bench)
                failure = CaseFailed(problem or "", rules=_ACCUSED.get(name, ()))
            except CaseFailed as caught:
                failure, streams = caught, target.streams()
                said = first_said(bench, failure, target.moved() if is_watched else ())
                why = _why(controls, bench, failure.stop)
                told = "; ".join(filter(None, [said, why]))
                problem = "\n".join([*([told] if told else []), *_told(failure, streams)])
            if problem is None:
                return passed
            broken = _accused(controls, bench, failure)
            diagnoses = explained(bench.transcript, broken, simulated=simulated)
            notes = [f"accuses {', '.join(broken[:_MOST_RULES])}"] if broken else []
            notes += [f"explain: {names_of(found)} {title(found.id)}" for found in diagnoses]
            if capture is not None and any(bench.transcript.entries()):
                bench.transcript.write(capture, comment="a first question of roceproof gate")
                notes.append(f"capture: {capture}")
    except DeviceDied as death:
        words = "\n".join([*filter(None, [of_death(str(death))]), f"{death.said}: {death}"])
        return replace(failed, words=words, broken=(death.rule,))
    except (pytest.skip.Exception, Beyond) as reason:
        return replace(passed, outcome=SKIPPED, words=str(reason).removeprefix(PREFIX))
    first, *rest = problem.splitlines()
    return replace(
        failed,
        words="\n".join([first, *notes, *rest]),
        broken=broken,
        explained=" ".join(map(names_of, diagnoses)),
    )


def _accused(controls: Controls, bench: Bench, failure: CaseFailed) -> tuple[str, ...]:
    """What is wrong in the device's packets, then what differed first, then all the rest."""
    judged = judgement(bench, known=failure)
    blamed = blame(bench, [failure, *judged.failures], own=(), controls=controls)
    seen = [finding.rule.id for finding, _ in judged.findings]
    first = first_difference(bench, failure, blamed.stop)
    return tuple(dict.fromkeys([*seen, *first, *blamed.broken]))


def _told(failure: CaseFailed, streams: Sequence[str]) -> list[str]:
    """What was wanted, how the streams stand, and the last frames, which a failure tells first."""
    head, seen, behind = str(failure).partition(f"\n{FRAMES_SEEN}\n")
    frames = [line for line in behind.splitlines() if line not in streams]
    last = [FRAMES_SEEN, *frames[-_LAST_FRAMES:]] if seen and frames else ["no frame was seen"]
    return [*head.splitlines(), *streams, *last]


def first_said(bench: Bench, failure: CaseFailed, moved: Sequence[Movement] = ()) -> str | None:
    """What is wrong in one sentence: the stream that does not move, or the field."""
    stop, target = failure.stop, bench.target
    refusals = [each.status for each in moved if isinstance(each, Completed)]
    if refusals and refusals[0] != SUCCESS and not any(isinstance(each, Sent) for each in moved):
        port = OF_WORK.get(refusals[0], "wr_i")
        return (
            f"the work was refused ({refusals[0]}): look at {port}, "
            "or say the limit under [limits] of the manifest"
        )
    if wrong := _wrong_frame(bench):
        return wrong
    standing = target.standing()
    lacks = stop is not None and any(
        each.field == "payload" and each.got == "0" for each in stop.fields
    )
    if lacks and "pl" in standing and not standing["pl"].beats:
        return "its packet has no payload, and none was taken: look at length of wr_i"
    if said := said_of_one(standing, stop):
        return DEAF if _hears_nothing(bench, stop) else said
    if bench.strays and bench.connections:
        want, got = bench.connections[0].spec.remote_qpn, bench.strays[0].bth.dest_qpn
        return f"packets go to a QPN that nobody has: qpn: want {want:#x}, got {got:#x}"
    if stop is not None and stop.fields:
        wrong = "; ".join(f"{each.field}: want {each.want}, got {each.got}" for each in stop.fields)
        where = of_a_refusal(wrong, target.standing())
        return "; ".join(filter(None, [f"the first packet is wrong: {wrong}", where]))
    if strays := target.stray_completions():
        return f"work {strays[0].wr_id:#x} is completed for a QPN that has no work: look at cpl_o"
    if ends := [each for each in refusals if each != SUCCESS]:
        return f"its packets are right, and the first work completes with {ends[0]}: look at cpl_o"
    return None


def _wrong_frame(bench: Bench) -> str | None:
    """What is wrong with the first malformed or damaged packet of the device."""
    for frame in (entry.frame for entry in bench.transcript.entries() if entry.is_sent):
        if (layout := locate(frame)) and layout.fault:
            return f"its packet is malformed: {layout.fault}"
        _, found, due = icrc.check(frame)
        if due and found and due != found:
            return f"its packet has a wrong ICRC: want {due.hex()}, got {found.hex()}"
    return None


def _why(controls: Controls, bench: Bench, stop: Stop | None) -> str | None:
    """What a message needs to go on; of one that is taken whole and does not leave, where to look.

    Of a device of which nothing comes at all the reset is more likely than any stream.
    """
    if stop is None or Capability.LOCKSTEP not in bench.claims.capabilities:
        return None
    standing = bench.target.standing()
    beats = {name: stream.beats for name, stream in standing.items()}
    if cause := cause_of(controls, skeleton_of(bench, stop)):
        return cause.words
    if any(beats.get(name) for name in ("tx", "cpl")) or not beats.get("wr"):
        return None
    if Capability.PING in bench.claims.capabilities and _is_found(bench) is not None:
        return "nothing else comes out of it, no answer to ARP either: look at rst_ni, too"
    return "all of its payload was taken: look at pl_tlast_i, too" if beats.get("pl") else None


def told_of_memory(got: bytes, data: bytes) -> str:
    """What memory holds of the bytes that were written."""
    if not any(got):
        return "the request was answered, but memory holds none of its bytes: look at mwc_o.address"
    if sorted(got) == sorted(data):
        return "memory holds its bytes in another order: look at the lanes of mwd_tdata_o"
    right = sum(one == other for one, other in zip(got, data, strict=True))
    return (
        f"the request was answered, but memory holds {right} of its {len(data)} bytes: "
        "look at mwd_tkeep_o and the lanes of mwd_tdata_o"
    )


def _hears_nothing(bench: Bench, stop: Stop | None) -> bool:
    """Whether it sends and takes frames, and neither an ACK nor a question is of any effect."""
    if stop is None or stop.kind is not Kind.NO_COMPLETION or stop.at is None:
        return False
    takes = bench.target.standing()["rx"]
    if stop.at.spec.service is not Service.RC or not takes.beats or takes.waits:
        return False
    asks = Capability.PING in bench.claims.capabilities
    return asks and _is_found(bench) is not None


def _first_of(bench: Bench) -> tuple[Connection, Op]:
    for service in Service:
        is_claimed = Capability[service.name] in bench.claims.capabilities
        if is_claimed and (ops := operations(bench, service)):
            return bench.connect(service), ops[0]
    pytest.skip(f"{PREFIX}{bench.claims.device} sends no messages with payload")


def _sends(bench: Bench) -> str | None:
    qp, op = _first_of(bench)
    qp.transfer(op, bench.claims.limits.bend(64))
    return None


def _is_served(bench: Bench) -> str | None:
    claims = bench.claims
    if Capability.RC not in claims.capabilities or not _SERVED & _executed(claims):
        pytest.skip(f"{PREFIX}{claims.device} executes neither WRITE nor SEND on RC")
    qp = bench.connect()
    region, data = qp.region(_REQUEST_BYTES), bench.random.randbytes(_REQUEST_BYTES)
    if Op.WRITE in _executed(claims):
        qp.send(WRITE_ONLY(psn=0, a=1, payload=data, **at(region)))
        qp.expect(ACK(psn=0))
    else:
        receive = qp.post_receive(region)
        qp.send(SEND_ONLY(psn=0, a=1, payload=data))
        qp.expect(ACK(psn=0))
        qp.receives(receive, byte_len=len(data))
    if not bench.comes_true(lambda: region.read(0, len(data)) == data):
        return told_of_memory(region.read(0, len(data)), data)
    return None


def _executed(claims: Claims) -> frozenset[Op]:
    executed = claims.executed_on(Service.RC)
    return _SERVED if executed is None else executed


def _is_found(bench: Bench) -> str | None:
    answered = bench.target.ping(bench.peer(), timeout_ns=bench.target.patience.answer_ns)
    if answered:
        return None
    said = wrong_answer(bench.target.asides()) or said_of_one(bench.target.standing(), None)
    return said or "an ARP request for its address, or the ping after it, is lost"


def _stands_still(bench: Bench) -> str | None:
    if Capability.DISTURBANCE not in bench.claims.capabilities:
        pytest.skip(f"{PREFIX}{bench.claims.device} has no streams to stall")
    qp, op = _first_of(bench)
    packets = 1 if qp.spec.service is Service.UD else _PACKETS
    length = bench.claims.limits.bend(packets * qp.mtu)
    qp.transfer(op, length)
    is_right_at_rest = _wrong_frame(bench) is None
    bench.target.disturb(tx_stall=_STALL)
    for _ in range(_MESSAGES):
        qp.transfer(op, length)
    return _wrong_frame(bench) if is_right_at_rest else None


_QUESTIONS: dict[str, tuple[str, Callable[[Bench], str | None]]] = {
    "frame": ("the first message leaves, and completes", _sends),
    "request": ("the first request is executed, and answered", _is_served),
    "ping": ("ARP and ping are answered", _is_found),
    "back-pressure": (
        f"messages leave whole where {_STALL} % of cycles are stalled",
        _stands_still,
    ),
}
