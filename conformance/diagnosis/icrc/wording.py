# SPDX-License-Identifier: BSD-2-Clause
"""A diagnosis in words: what was seen, how sure it is, what to do."""

from collections import Counter
from collections.abc import Sequence

from roceproof.conformance.diagnosis.budget import OutOfBudget
from roceproof.conformance.diagnosis.icrc.answer import Answer
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.evidence import (
    KNOWN_STARTS,
    probe_pairs,
    recover_mask,
    shape,
    start_register,
    tail_probe,
)
from roceproof.conformance.diagnosis.icrc.parts.sampling import diverse, syndromes
from roceproof.conformance.diagnosis.observation import Station
from roceproof.conformance.diagnosis.result import CORRUPT, UNDECIDED
from roceproof.conformance.rules.signatures import SIGNATURES, parts

_PAIRS = 20
_PROBED = 12
_PROBING_UNITS = 20_000
_MORE_TRAFFIC = (
    "Capture more: payloads of every length modulo 64, TTL, TOS and IPv4 ID that vary, IPv6, a"
    " VLAN tag, a CNP, AckReq and MigReq both ways, and two packets that differ in one bit."
)
_NONE = "none:"
CHANGED = "were changed after they were sent"
ON_THE_WAY = "Look at the link and the capture point, not at the sender."


def text(station: Station, answer: Answer) -> str:
    """What was seen and how much it proves."""
    scope = answer.scope
    where = f"{station}, {scope.words}" if scope.words else f"{station}"
    wrong, right = len(scope.wrong), len(scope.right)
    facts = [*answer.facts, *_unjudged(answer), *_register(answer), *_open_questions(answer)]
    sentences = [f"{fact[0].upper()}{fact[1:]}." for fact in facts]
    candidates = [each for each in answer.equivalent if each != CORRUPT]
    count = len(answer.explained)
    if answer.name == UNDECIDED and candidates:
        between = " and ".join(answer.equivalent)
        words = f"undecided between {between}" if answer.equivalent[1:] else f"only {between} fits"
        first = f"{where}: {words}, {count} of {wrong} wrong ICRCs, {right} right ones"
    elif answer.name == UNDECIDED:
        first = f"{where}: nothing that was tried fits {count} of {wrong} wrong ICRCs"
        first += "; bits may have changed on the way" if answer.equivalent else ""
    elif answer.name == CORRUPT:
        first = f"{where}: {count} frames {CHANGED}"
    else:
        first = (
            f"{where}: predicts {count} of {wrong} wrong ICRCs"
            f" and contradicts {_contradicted(answer) or 'none'} of {right} right ones"
            f" (errors told apart: {syndromes(scope.some_wrong)};"
            f" frames compared: {scope.looked_at})"
        )
    return " ".join([f"{first}.", *sentences])


def advice(name: str, equivalent: tuple[str, ...]) -> str:
    """Where to look, and what traffic would tell the alternatives apart."""
    if name == UNDECIDED:
        traffic = dict.fromkeys(row.traffic for each in equivalent for row in parts(each))
        return f"To decide, send: {'; '.join(traffic)}." if traffic else _MORE_TRAFFIC
    if name == CORRUPT:
        apart = f" To rule out {' and '.join(equivalent)}, capture more." if equivalent else ""
        return ON_THE_WAY + apart
    looks = "; ".join(row.look for row in parts(name))
    sentences = [f"Look at {looks}."]
    if equivalent:
        names = dict.fromkeys(row.id for each in (name, *equivalent) for row in parts(each))
        traffic = dict.fromkeys(SIGNATURES[each].traffic for each in names)
        useful = [words for words in traffic if not words.startswith(_NONE)]
        if useful:
            sentences.append(f"To tell the alternatives apart, send: {'; '.join(useful)}.")
        else:
            sentences.append("No traffic tells the alternatives apart: they are one function.")
    else:
        sentences.append(f"To confirm, send: {'; '.join(row.traffic for row in parts(name))}.")
    return " ".join(sentences)


def _contradicted(answer: Answer) -> int:
    """Count the right packets, of those looked at, of which the hypothesis says something else."""
    if answer.hypothesis is None:
        return 0
    predicted = ((answer.hypothesis.predict(p), p.found) for p in answer.scope.some_right)
    return sum(value is not None and value != found for value, found in predicted)


def _unjudged(answer: Answer) -> list[str]:
    """Say how many packets the hypothesis has no say in."""
    if answer.hypothesis is None:
        return []
    numbers = {packet.seen.number for packet in answer.explained}
    left = [packet for packet in answer.scope.wrong if packet.seen.number not in numbers]
    count = sum(answer.hypothesis.predict(packet) is None for packet in left)
    return [f"{count} cannot be judged, for want of the packet before"] if count else []


def _register(answer: Answer) -> list[str]:
    """Say where the register seems to start, if that is a constant other than the right one."""
    probes = diverse(answer.explained, _PROBED)
    starts = {start_register(packet) for packet in probes}
    if len(starts) != 1 or len(probes) < 2 or answer.name == CORRUPT:
        return []
    start = starts.pop()
    meaning = KNOWN_STARTS.get(start)
    words = f"the effective start register is {start:08x} in place of debb20e3"
    return [words + (f": {meaning}" if meaning else "")]


def _open_questions(answer: Answer) -> list[str]:
    """Say what can be said without a hypothesis, where there is none."""
    if answer.name != UNDECIDED or answer.equivalent:
        return []
    try:
        answer.scope.budget.spend_on_words(_PROBING_UNITS)
    except OutOfBudget:
        answer.scope.budget.leave_out("probes without a hypothesis", answer.scope.place)
        return []
    packets = answer.explained
    facts = []
    depends = shape(packets)
    if depends is not None:
        facts.append(f"the error is {depends}")
    facts += _tail(packets)
    mask = recover_mask(diverse(packets, _PROBED))
    if mask is not None and not mask.open:
        bits = ", ".join(f"{field} bits {value:x}" for field, value in mask.bare.items())
        facts.append(f"exactly these masked bits would have to be bare: {bits}")
    return facts


def _tail(packets: Sequence[CrcInput]) -> list[str]:
    counts = Counter(probe for pair in probe_pairs(packets, _PAIRS) for probe in tail_probe(*pair))
    if not counts:
        return []
    probe, count = counts.most_common(1)[0]
    words = [probe.engine, *probe.reordering]
    words += [f"{probe.extra:+d} bytes at the end"] if probe.extra else []
    how = ", ".join(word for word in words if word) or "rightly"
    return [f"the difference of {count} pairs of equal length entered the CRC {how}"]
