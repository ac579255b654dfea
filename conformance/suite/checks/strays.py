# SPDX-License-Identifier: BSD-2-Clause
"""What had to be dropped and was heeded: bytes of it in memory, its answer, work that it ends."""

import re
from collections.abc import Iterable, Sequence

from roceproof.conformance.model.requester.read_answers import READ_FIRST, READ_ONLY
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.memory import unless_late
from roceproof.conformance.suite.reporting.divergence import AS_IF_ONCE
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import (
    BEHIND_UNDUE,
    HEEDED,
    STRAY_ACK,
    STRAY_ANSWER,
    STRAY_BYTES,
    harms_memory,
    head_of,
)
from roceproof.conformance.suite.reporting.transcript import DAMAGED, Entry
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import layout_of
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.ip import checksum as ones
from roceproof.conformance.wire.opcodes import OPCODES, Family
from roceproof.verbs.addresses import Host

_PIECE, _ALIKE, _MOST = 6, 2, 1 << 16
"""In bytes: what is no chance, of so many values at least, and of how much memory."""
_SEEN = "\nframes seen:"
_WRITTEN = "RETH-12"
_SAID = (BEHIND_UNDUE, *HEEDED)
_OF_A_WRONG_ICRC = {STRAY_BYTES: "ICRC-15", STRAY_ANSWER: "ICRC-14", STRAY_ACK: "ICRC-12"}
_ACKNOWLEDGE, _ACKS = 0x11, 0x20
_ANSWERS = {
    _ACKNOWLEDGE: (Family.SEND, Family.WRITE),
    0x12: (Family.ATOMIC,),
    READ_FIRST: (Family.READ,),
    READ_ONLY: (Family.READ,),
}
"""By the opcodes of answers that open one or are alone, what they answer."""
_UNANSWERED = re.compile(
    r"\(RC, (?P<qpn>0x[0-9a-f]+)\): work \S+ completed with success, .*without an answer"
)


def with_strays(bench: Bench, failure: CaseFailed) -> CaseFailed:
    """The failure; with what was heeded though it had to be dropped, or bytes that come later."""
    failure = unless_late(bench.target, failure)
    if any(words in str(failure) for words in _SAID):
        return failure
    head, heard = head_of(failure), [e for e in bench.transcript.entries() if not e.is_sent]
    if unanswered := _UNANSWERED.search(head):
        qpn = int(unanswered["qpn"], 16)
        strays = [each for each in heard if each.is_void and _acknowledges(each, qpn)]
        return _with_why(bench, failure, STRAY_ACK, strays)
    if harms_memory(head):
        return _with_stray_bytes(bench, failure, heard)
    strays = [each for got in failure.entries if got.is_sent for each in _answered(bench, got)]
    return _with_why(bench, failure, STRAY_ANSWER, strays)


def _with_why(bench: Bench, failure: CaseFailed, says: str, strays: Sequence[Entry]) -> CaseFailed:
    """The failure with what it says of these packets, if all had to be dropped for one reason."""
    reasons = {because(each, bench.target.host, says) for each in strays}
    if len(reasons) != 1:
        return failure
    (why, rules), (said, seen, frames) = reasons.pop(), str(failure).partition(_SEEN)
    text = f"{said}\n{says}{why}{seen}{frames}"
    return failure.retold(text, rules=rules, entries=strays[-1:])


def _answered(bench: Bench, got: Entry) -> list[Entry]:
    """The requests that had to be dropped and have this answer, if no other can have it."""
    answer, found = parse(got.frame), []
    if answer is None or answer.bth.opcode not in _ANSWERS:
        return []
    asked = {
        each.qp.qpn for each in bench.connections if each.spec.remote_qpn == answer.bth.dest_qpn
    }
    for entry in bench.transcript.entries():
        if entry is got:
            break
        request = None if entry.is_sent else parse(entry.frame)
        if request is None or request.bth.dest_qpn not in asked:
            continue
        row = OPCODES.get(request.bth.opcode)
        if row and row.family in _ANSWERS[answer.bth.opcode] and request.bth.psn == answer.bth.psn:
            found.append(entry)
    return found if all(each.is_void for each in found) else []


def _acknowledges(entry: Entry, qpn: int) -> bool:
    packet = parse(entry.frame)
    return (
        packet is not None
        and (packet.bth.opcode, packet.bth.dest_qpn) == (_ACKNOWLEDGE, qpn)
        and any(isinstance(each, Aeth) and each.syndrome < _ACKS for each in packet.extensions)
    )


def _with_stray_bytes(bench: Bench, failure: CaseFailed, heard: Sequence[Entry]) -> CaseFailed:
    said, seen, frames = str(failure).partition(_SEEN)
    if stray := stray_in(bench.target.just_read(), heard):
        why, rules = because(stray, bench.target.host, STRAY_BYTES)
        text = f"{said}\n{STRAY_BYTES}: the packet of {stray.time_ns / 1000:.3f} us{why}"
        return failure.retold(f"{text}{seen}{frames}", rules=rules, entries=[stray])
    if not _has_undue(heard):
        return failure
    rules = (AS_IF_ONCE,) if failure.rules == (_WRITTEN,) else ()
    return failure.retold(f"{said}\n{BEHIND_UNDUE}{seen}{frames}", rules=rules)


def _has_undue(entries: Iterable[Entry]) -> bool:
    """Whether packets came that must be dropped, or have come before."""
    known: set[tuple[bytes, int, int, int]] = set()
    for entry in entries:
        if (packet := parse(entry.frame)) is None:
            continue
        bth = packet.bth
        if entry.is_void or (key := (packet.ip.src, bth.dest_qpn, bth.psn, bth.opcode)) in known:
            return True
        known.add(key)
    return False


def stray_in(memory: bytes, entries: Sequence[Entry]) -> Entry | None:
    """The newest packet heard that must be dropped, with a piece in memory that no other has."""
    if not memory:
        return None
    found = _pieces(memory[:_MOST])
    for entry in entries:
        if not entry.is_void:
            found -= _pieces(_behind_headers(entry))
    void = (entry for entry in reversed(entries) if entry.is_void)
    return next((each for each in void if found & _pieces(_behind_headers(each))), None)


def _behind_headers(entry: Entry) -> bytes:
    """Payload, pad and ICRC."""
    packet = parse(entry.frame)
    return b"" if packet is None else packet.payload + bytes(packet.bth.pad_count) + packet.icrc


def _pieces(data: bytes) -> set[bytes]:
    """All that are long enough to be no chance, and not all alike."""
    every = (data[at : at + _PIECE] for at in range(len(data) - _PIECE + 1))
    return {each for each in every if len(set(each)) > _ALIKE}


def because(entry: Entry, host: Host, heeded: str) -> tuple[str, tuple[str, ...]]:
    """Why a packet has to be dropped, and the rule that it breaks to heed it in that way.

    Neither, where the frame does not tell.
    """
    if entry.comment == DAMAGED:
        return ", which the MAC marked as damaged", ("ETH-09",)
    if (packet := parse(entry.frame)) is not None:
        own, layout = host.facing(Host(packet.src_mac, packet.ip.src)), layout_of(entry.frame)
        if packet.ip.dst != own.ip:
            return ", which is for another IP address", ("GID-05",)
        if packet.dst_mac != host.mac:
            return ", which is for another MAC address", ("LIVE-03",)
        if isinstance(packet.ip, Ipv4) and ones(entry.frame[layout.ip : layout.udp]):
            return ", whose IPv4 checksum is wrong", ("IP-11",)
    if icrc.check(entry.frame).judgement is not icrc.Judgement.OK:
        return ", whose ICRC is wrong", (_OF_A_WRONG_ICRC[heeded],)
    return "", ()
