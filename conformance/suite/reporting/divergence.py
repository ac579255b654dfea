# SPDX-License-Identifier: BSD-2-Clause
"""The rule of the first thing that was wrong, by the words in which every failure tells it.

A case decides its own rules. What it takes for granted, and what nobody has said before, such as
a random plan or a fence, is named by what differed first: the packet that did not come, its field,
how work ended, what memory holds.
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from roceproof.conformance.rules.table import RULES
from roceproof.conformance.suite.reporting.ends import NO_TIMER
from roceproof.conformance.suite.reporting.failure import FIELD_RULES, CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import (
    AS_ANOTHER,
    BEHIND_UNDUE,
    head_of,
    likeness,
    name_of_wanted,
    receive_ended_as,
    wrong_fields,
)

_ALIVE = "LIVE-01"
VAGUE = ("FUZZ-", "LIVE-02", "LIVE-03")
"""Rules that hold of whatever a device does: they name nothing."""
AS_IF_ONCE = "FUZZ-14"
"""Of that family, but what it says is one thing: memory is as if every packet had come once."""
_ANSWERS, _DATA = ("ACK", "NAK", "RNR", "ATOMIC"), "READ_RESP"
_MISSING = (
    (_DATA, "READ-02"),
    ("ATOMIC", "ATOM-05"),
    ("NAK", "NAK-07"),
    ("RNR", "RNR-01"),
    ("", "ACK-01"),
)
"""The rule that an answer is missing, by its name."""
_PSNS = re.compile(r"psn: want ([+-]\d+), got ([+-]\d+)")
_SEQUENCE_NAK = re.compile(r"want +NAK [^;]*syndrome=0x60")
COMPLETES = ("ACK-08", "UC-01")
"""Rules of work that does not end as it must: why, something else may say better."""
_SAYS_ITSELF = (
    *COMPLETES,
    "ACK-07",
    "ACK-09",
    "ETH-0",
    "DUP-01",
    "CNP-02",
    "RNR-",
    "NAK-01",
    "NAK-02",
    "NAK-08",
    "NAK-09",
    "RTX-",
    "RETH-05",
    "RETH-12",
    AS_IF_ONCE,
    "MSN-",
    "IMM-",
    "RQ-",
)
"""Rules that what came says broken, whatever the case is about."""


class _Named(NamedTuple):
    """What a failure is like, and the rules that are broken if it is."""

    like: re.Pattern[str]
    rules: tuple[str, ...]


def _table(*rows: tuple[str, str]) -> list[_Named]:
    return [_Named(re.compile(like), tuple(rules.split())) for like, rules in rows]


def _refused(wanted: str, code: str, rules: str) -> _Named:
    """A NAK in its place, told as what was wanted and came, or as what came and differs."""
    want, got = f"want +{wanted}", f"got +NAK [^;]*syndrome={code}"
    return _Named(re.compile(f"{want}[^;]*; {got}|{got}[^;]*; opcode: {want}"), (*rules.split(),))


_BY_LIKENESS = _table(
    (r"contract: tx(_valid fell| changed while)", "ETH-07"),
    (r"contract: tx_tkeep", "ETH-08"),
    (r"contract: (a write of|the data of a write|mwd_|mw[cd] changed)", "RETH-12"),
    (r"contract: (a read of|mrc changed)", "READ-02"),
    (r"^no RNR$", "RNR-01"),
    (r"^no NAK(_SEQUENCE| 0x60)?$", "NAK-01"),
    (r"^no NAK 0x", "NAK-07"),
    (r"^no (RDMA )?READ[ _]RESP", "READ-02"),
    (r"^no ATOMIC", "ATOM-05"),
    (r"^no (RC )?ACK", "ACK-01"),
    (r"^no CNP$", "CNP-02"),
    (r"^want ACK\w*, got NAK", "NAK-02"),
    (r"^want NAK\w*, got (ACK|READ|ATOMIC)", "NAK-07"),
    (r"^other bytes|bytes differ, the first", "RETH-12"),
    (r"^(wr_flush_err|rem_\w+): ", "NAK-09"),
    (r"^rnr_retry_exc_err: ", "RNR-05"),
    (r"^retry_exc_err: ", "RTX-05"),
    (r"(?<!rnr_)retry_exc_err$", "RTX-01"),
    (r"^other work completed", "ACK-08 ACK-05"),
    (r"^receive completed again$", "RQ-01"),
    (r"completed again", "LIVE-02"),
)
_COMPLETION = _table(
    (BEHIND_UNDUE, AS_IF_ONCE),
    (rf"want no such completion.*completed with rem_.*{AS_ANOTHER}", "NAK-09"),
    (rf"want no such completion.*completed with retry_exc_err.*{AS_ANOTHER}", "QPS-06"),
    (NO_TIMER, "RTX-07"),
    (r"\(UD.*completed with success; got work \S+ completed with loc_len_err", "UD-04"),
    (r"which (waits|is acknowledged).*completed with retry_exc_err, syndrome 0x60", "NAK-13"),
    (r"completed with retry_exc_err, syndrome 0x[23]", "RNR-05"),
    (r"which nothing has failed; .*completed with (wr_flush_err|rem_|r\w+_exc)", "QPS-06"),
    (r"want no such completion.*completed with success, syndrome 0x1f", "ACK-08 ACK-09"),
    (r"want no such completion.*completed with success, syndrome 0x[01]", "ACK-08 AETH-04"),
    (r"want no such completion.*completed with success, syndrome 0x[23]", "RNR-05"),
    (r"want no such completion.*completed with success, syndrome 0x6[0-3]", "NAK-09"),
    (r"want no such completion.*completed with success, syndrome 0xff", "ACK-08"),
    (r"want no such completion.*completed with success, syndrome", "AETH-05"),
    (
        r"owed: work \w+ [^,]*, number \d+\) which (was not|waits).*with wr_flush_err",
        "QPS-06 NAK-09",
    ),
    (r"want no such completion.*completed with wr_flush_err", "NAK-09"),
    (r"which waits for an answer; got work \S+ completed with rem_", "ACK-09"),
    (r"want no such completion.*completed with rem_\w+", "NAK-13 NAK-10"),
    (r"want no such completion.*completed with rnr_retry", "RNR-05"),
    (r"want no such completion.*completed with retry_exc", "RTX-01"),
    (r"completed with success, .* without an answer", "ACK-08"),
    (r"completed with success, .* before it has left", "UC-01"),
    (r"completed with (wr_flush_err|rem_\w+); got nothing", "NAK-09"),
    (r"completed with rnr_retry_exc_err; got nothing", "RNR-05"),
    (r"completed with retry_exc_err.*; got nothing", "RTX-01 RTX-05"),
    (r"which is flushed; got work \S+ completed with (?!wr_flush)", "NAK-09"),
    (r"want a completion; got nothing.*which (is flushed|ends with (wr_flush|rem_))", "NAK-09"),
    (r"want a completion; got nothing.*which ends with rnr", "RNR-05"),
    (r"want a completion; got nothing.*which ends with retry", "RTX-05"),
    (r"want a completion; got nothing.*which was not sent", "LIVE-01"),
    (r"want a completion; got nothing.*which has left", "UC-01"),
    (r"want a completion; got nothing", "ACK-08"),
    (r"want nothing( more)?; got .*in all came .*NAK psn=\S+ syndrome=0x6[1-3] .*, ", "NAK-08"),
    (r"want nothing( more)?; got NAK .*in all came RNR", "RNR-06 NAK-02"),
    (r"want nothing( more)?; got NAK", "NAK-02"),
    (r"want nothing( more)?; got RNR", "RNR-06"),
    (r"want nothing( more)?; got READ_RESP", "READ-02"),
    (r"want nothing( more)?; got ATOMIC", "ATOM-06"),
    (r"want nothing( more)?; got ACK", "ACK-06"),
    (r"want nothing( more)?; got (SEND|WRITE|READ)", "QPS-03"),
    (r"fewer receives than were due .*: ([^;]*; )*\w+ wr_flush_err[^;]*; got", "QPS-03"),
    (r"\(UC\).*more receives than were due", "UC-04"),
    (r"\(UC\).*fewer receives than were due", "UC-03"),
    (r"\(UD\).*receives than were due", "UD-02 UD-05"),
    (r"more receives than were due", "DUP-01"),
    (r"fewer receives than were due", "PSN-12"),
    (r"want receives completed.* invalidates ", "INV-01"),
    (r"want receives completed", "IMM-04"),
    (r"\(UD\) at rest; want other bytes .* in front of a datagram", "GID-03"),
    (r"\(UD\) at rest; want other bytes .* where a request was to write", "UD-05"),
    (r"\(UC\) at rest; want other bytes .* where a request was to write", "UC-03"),
    (r"want other bytes .* where a request was to write", "PSN-12"),
    (r"want other bytes .* where an atomic was to store", "ATOM-04"),
)
_REFUSED = [
    _refused("ATOMIC", "0x61", "READ-06 ATOM-03"),
    _refused("READ_RESP", "0x61", "READ-06"),
    _refused("(READ_RESP|ATOMIC|ACK)", "0x62", "RETH-07"),
]
"""A good request that is refused: no more of its kind are taken, it is not aligned for the device,
or it has no right there."""
_ANY = "all"
_OPCODE = "opcode"
"""Where it is another, all else is that of another packet."""
_FLUSHED = "QPS-03"
_SURPLUS, _ONE_NAK = (
    re.compile(r"(?:^|want +(?!NAK)\w+ [^;]*; )got +NAK [^;]*syndrome=0x60"),
    "NAK-02",
)
_OF_ANSWERS = {
    "psn": "ACK-06",
    "msn": "MSN-02",
    "opcode": "AETH-02",
    "original": "ATOM-02",
    "payload": "READ-02",
    "immediate": "IMM-02",
    "receive": "RQ-01",
    "icrc": "ICRC-02",
}
_OF_ACKS = {"se": "ACK-07", "a": "ACK-07"}
_OF_DATA = {"psn": "PSN-20", "opcode": "READ-02", "syndrome": "AETH-03"}


def differed(failure: CaseFailed) -> tuple[str, ...]:
    """Those that it says, or else those of what differed first."""
    if failure.rules == (_ALIVE,):
        return named(head_of(failure)) or failure.rules
    return failure.rules or named(head_of(failure))


def named(head: str) -> tuple[str, ...]:
    """The rules of the first thing that was wrong; none where nobody can say."""
    head = " ".join(head.split())
    for row in _REFUSED:
        if row.like.search(head):
            return row.rules
    if ended := receive_ended_as(head):
        return (_FLUSHED,) if ended[0] == "wr_flush_err" else ()
    if fields := wrong_fields(head):
        if _OPCODE in fields and _SURPLUS.search(head):
            return (_ONE_NAK,)
        name, is_sequence = name_of_wanted(head), bool(_SEQUENCE_NAK.search(head))
        if {_OPCODE, "psn"} <= fields and name.startswith((*_ANSWERS, _DATA)):
            return _of_another(name, head)
        decides = sorted({_OPCODE} & fields or fields)
        told = tuple(dict.fromkeys(_of_fields(name, decides, is_sequence=is_sequence)))
        if told:
            return told
    for rows, words in ((_COMPLETION, head), (_BY_LIKENESS, likeness(head))):
        for row in rows:
            if row.like.search(words):
                return row.rules
    return ()


def on_services(rules: Iterable[str], services: AbstractSet[str]) -> tuple[str, ...]:
    """Those that hold of any of these services; that work ends wrongly has a rule on each."""
    if not services:
        return tuple(rules)
    reliable, unreliable = COMPLETES
    told = [
        unreliable if rule == reliable and "RC" not in services else rule
        for rule in rules
        if rule == reliable or not _elsewhere(rule, services)
    ]
    return tuple(dict.fromkeys(told))


def _elsewhere(rule: str, services: AbstractSet[str]) -> bool:
    held = RULES[rule].services
    return held != _ANY and services.isdisjoint(held.split())


def says_itself(rules: Iterable[str]) -> bool:
    """Whether what came names a rule so that no case can mean another one by it."""
    return any(rule.startswith(_SAYS_ITSELF) for rule in rules)


def is_vague(rules: Sequence[str]) -> bool:
    return all(rule.startswith(VAGUE) and rule != AS_IF_ONCE for rule in rules)


def _of_another(name: str, head: str) -> tuple[str, ...]:
    """Where a later request is answered this one is not; an earlier one says nothing of this."""
    psns = _PSNS.search(head)
    is_later = psns is not None and int(psns[2]) > int(psns[1])
    return (next(rule for kind, rule in _MISSING if name.startswith(kind)),) if is_later else ()


def _of_fields(name: str, fields: Sequence[str], *, is_sequence: bool) -> Iterable[str]:
    rules = FIELD_RULES | {"icrc": _OF_ANSWERS["icrc"]}
    if name.startswith(_DATA):
        rules |= _OF_ANSWERS | _OF_DATA
    elif not name or name.startswith(_ANSWERS):
        rules |= _OF_ANSWERS
    if name.startswith("ACK"):
        rules |= _OF_ACKS
    if name.startswith("NAK"):
        rules |= dict.fromkeys(("psn", _OPCODE), "NAK-01" if is_sequence else "NAK-07")
    if name.startswith("RNR"):
        rules |= {"psn": "RNR-01"}
    told = [field for field in fields if field.startswith("syndrome ")] or fields
    for field in told:  # another kind of answer counts and names otherwise, too
        what, _, kinds = field.partition(" ")
        if what == "syndrome" and kinds and not name.startswith(_DATA):
            yield _of_syndrome(kinds)
        elif rule := rules.get(field) or rules.get(what):
            yield rule


def _of_syndrome(kinds: str) -> str:
    """Of an acknowledge packet: an RNR NAK, a sequence NAK or another is wanted, or comes."""
    if kinds == "RNR RNR":
        return "RNR-02"
    if "RNR" in kinds:  # what is refused for good says nothing of receives
        return "NAK-07" if kinds in ("RNR 0x61", "RNR 0x62", "RNR 0x63") else "RNR-01"
    if kinds == "ACK 0x60":
        return _ONE_NAK
    return "NAK-01" if "0x60" in kinds else "NAK-07"
