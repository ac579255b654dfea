# SPDX-License-Identifier: BSD-2-Clause
"""The structural part of the diagnosis: what each station builds wrongly, told by rule.

A packet is believed to have been built like that if its ICRC says so, or if the
same is wrong with several; otherwise it may have suffered on the way, which is
the ICRC's to tell. What follows is explained on the packets as they are then read.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.bare import without_icrc
from roceproof.conformance.diagnosis.observation import Observation, Station, by_mac
from roceproof.conformance.diagnosis.result import Diagnosis
from roceproof.conformance.diagnosis.structure.frames import broken
from roceproof.conformance.diagnosis.structure.lengths import read_alike, wrong_length
from roceproof.conformance.diagnosis.structure.messages import judge_messages
from roceproof.conformance.diagnosis.structure.premises import taken_over
from roceproof.conformance.diagnosis.structure.repeats import repeats
from roceproof.conformance.rules.known_devices import known_practice
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.wire.framing import ICRC_BYTES
from roceproof.conformance.wire.opcodes import OPCODES, Position

_SEVERAL = 4
_MASKED = frozenset({"BTH-08"})
"""What the ICRC does not cover."""
_OF_ALL = "BTH-04"
"""What packets of all opcodes show alike."""
_OF_CHANCES = 0.25
_ENOUGH_SOUND = 4
_UNREADABLE = frozenset({"BTH-01", "OPC-11", "OPC-12"})
_PADS = frozenset({"PAD-01"})
_SIZES = frozenset({"MTU-07", "RETH-01", "RETH-02", "IMM-01", "PAD-01", "PAD-03"})
_OF_MESSAGES = _SIZES | {"OPC-01", "OPC-03", "OPC-05", "MTU-01", "MTU-02"}
_OF_ENDS = _SIZES | frozenset(
    {"PAD-05", "AETH-01", "ATOM-01", "ATOM-02", "UD-01", "READ-01", "ACK-07", "MTU-01", "MTU-02"}
)
"""What words that are missing, or too many, may make of any packet."""
_FOLLOW = {
    "OPC-01": _SIZES | {"MTU-01", "MTU-02"},
    "OPC-03": _SIZES | {"OPC-01"},
    "OPC-05": _SIZES | {"OPC-01"},
    "PAD-01": frozenset({"PAD-03", "MTU-07"}),
    "MTU-01": frozenset({"MTU-07", "RETH-02"}),
    "MTU-02": frozenset({"MTU-07", "RETH-02", "OPC-01"}),
    "RETH-02": frozenset({"MTU-07", "OPC-01"}),
}
"""What else seems wrong behind a packet that breaks a rule."""
FlowKey = tuple[int, bytes, bytes, int]


@dataclass
class Structure:
    """What is built wrongly, and how the rest of the diagnosis is to see the packets."""

    diagnoses: list[Diagnosis] = field(default_factory=list)
    of_ends: list[Diagnosis] = field(default_factory=list)
    """Those of them that hold only if packets end where their ICRCs seem to end."""
    read: dict[int, Observation] = field(default_factory=dict)
    """Packets that are to be read otherwise than they say, by number."""
    withheld: set[int] = field(default_factory=set)
    """Frames whose ICRC no premise makes right, where others can be asked."""
    unsettled: set[int] = field(default_factory=set)
    """Frames of which no premise tells over what their ICRC was taken."""
    bare: set[int] = field(default_factory=set)
    """Frames without ICRC: their payload goes to the end."""
    unreadable: set[FlowKey] = field(default_factory=set)
    """Flows with packets of unknown opcodes: how many PSNs those take is not known."""

    odd_messages: set[Station] = field(default_factory=set)
    """Who sends messages that do not tell what is missing of them."""

    def for_icrcs(self, observations: Iterable[Observation]) -> list[Observation]:
        """Those whose ICRCs can be explained."""
        return [self._as_read(seen) for seen in observations if seen.number not in self.withheld]

    def for_psns(self, observations: Iterable[Observation]) -> list[Observation]:
        """Those whose PSNs can be."""
        known = (seen for seen in observations if _flow(seen) not in self.unreadable)
        return [
            _whole(seen) if seen.number in self.bare else self._as_read(seen)
            for seen in (known if self.unreadable else observations)
        ]

    def _as_read(self, seen: Observation) -> Observation:
        read = self.read.get(seen.number)
        return seen if read is None else replace(read, in_excerpt=seen.in_excerpt)


class _Case(NamedTuple):
    seen: Observation
    words: str
    got: str = ""
    bits: int = 0
    """Those of a field that are not as they should be, where that is known."""


def explain_structure(observations: Sequence[Observation], budget: Budget) -> Structure:
    """Explain what is built wrongly."""
    found = Structure()
    repeated = repeats(observations)
    for station, seen in by_mac(observations).items():
        _Judge(station, seen, found, budget, repeated).judge()
    return found


class _Judge:
    def __init__(
        self,
        station: Station,
        observations: Sequence[Observation],
        found: Structure,
        budget: Budget,
        repeated: Container[int],
    ) -> None:
        self._station, self._found, self._repeated = station, found, repeated
        bare = without_icrc(observations, budget)
        self._bare = {seen.number for seen in bare.packets}
        self._hold_icrcs = bare.hold_icrcs
        found.bare |= self._bare
        self._all = observations
        self._observations = [seen for seen in observations if seen.number not in self._bare]

    def judge(self) -> None:
        self._judge_lengths()
        cases: dict[str, list[_Case]] = {}
        for seen in self._observations:
            for rule, words, got in broken(seen):
                cases.setdefault(rule, []).append(_Case(seen, words, got))
        misplaced = self._judge_messages(cases)
        habits = {rule: found for rule, found in cases.items() if self._is_habit(rule, found)}
        for rule, found in misplaced.items():
            habits.setdefault(rule, []).extend(found)
        for rule, found in habits.items():
            if any(rule in hidden and cause in habits for cause, hidden in _FOLLOW.items()):
                continue
            self._tell(rule, found, self._premise(found) if rule in _PADS else "")
            if rule in _OF_MESSAGES:
                self._found.odd_messages.add(self._station)
            if rule in _UNREADABLE:
                self._found.unreadable |= {_flow(case.seen) for case in found}

    def _judge_lengths(self) -> None:
        wrong = [(seen, found) for seen in self._observations if (found := wrong_length(seen))]
        cases: dict[str, list[_Case]] = {}
        repaired = {}
        for seen, found in wrong:
            cases.setdefault(found.rule, []).append(
                _Case(found.repaired, found.words, found.off, found.bits)
            )
            repaired[seen.number] = found.repaired
        for rule, some in cases.items():
            if self._is_habit(rule, some):
                numbers = {case.seen.number for case in some}
                self._read_as({n: seen for n, seen in repaired.items() if n in numbers})
                self._read_as(read_alike(self._observations, [case.seen for case in some]))
                self._tell(rule, some, self._premise(some))

    def _judge_messages(self, cases: dict[str, list[_Case]]) -> dict[str, list[_Case]]:
        """Add what single packets show to the cases; what neighbours show, if it is a habit."""
        everything = self._observations
        if self._bare:
            read = {seen.number: seen for seen in everything}
            everything = [read.get(seen.number, seen) for seen in self._all]
        lack = self._some_right() and not self._hold_icrcs
        wrong = {seen.number for seen in everything if seen.wrong}
        judged = judge_messages(
            everything,
            may_lack_icrc=lack,
            bare=self._bare,
            damaged=wrong if 2 * len(wrong) < len(everything) else (),
            repeated=self._repeated,
        )
        misplaced: dict[str, list[_Case]] = {}
        for each in judged.misplaced:
            where = cases if each.alone else misplaced
            where.setdefault(each.rule, []).append(_Case(each.seen, each.words))
        return {
            rule: found
            for rule, found in misplaced.items()
            if _distinct(found) > 1 and len(found) >= _OF_CHANCES * judged.chances[_family(rule)]
        }

    def _some_right(self) -> bool:
        """Whether packets that end a message have right ICRCs, so that others may lack theirs."""
        return any(
            seen.sound and not seen.wrong and bool(row.position & Position.LAST)
            for seen in self._observations
            if (row := OPCODES.get(seen.bth.opcode)) is not None
        )

    def _is_habit(self, rule: str, cases: Sequence[_Case]) -> bool:
        """Whether the sender built these, and not the way changed them."""
        if rule not in _MASKED and any(case.seen.sound and not case.seen.wrong for case in cases):
            return True
        if rule in _PADS and any(_lacks_pad(case.seen) for case in cases):
            return True
        if _one_bit_each(cases):
            return False
        opcodes = {case.seen.bth.opcode for case in cases}
        alike = sum(rule == _OF_ALL or s.bth.opcode in opcodes for s in self._observations)
        same = Counter(case.got for case in cases).most_common(1)[0][1]
        enough = len(cases) >= _SEVERAL and 2 * same > len(cases)
        return enough and (rule in _MASKED or 2 * len(cases) >= alike)

    def _premise(self, cases: Iterable[_Case]) -> str:
        """Read packets by what their ICRC was taken over; in words, if not as they were sent."""
        some = [case.seen for case in cases]
        words, read = taken_over(some)
        self._read_as(read)
        numbers = {seen.number for seen in some}
        left = {seen.number for seen in some if seen.wrong} - read.keys()
        self._found.unsettled |= left
        others = [s for s in self._observations if s.number not in numbers and s.sound and s.wrong]
        if len(others) >= _ENOUGH_SOUND:
            self._found.withheld |= left
        return words

    def _read_as(self, read: dict[int, Observation]) -> None:
        self._found.read |= read
        self._observations = [read.get(seen.number, seen) for seen in self._observations]

    def _tell(self, rule: str, cases: Sequence[_Case], premise: str) -> None:
        numbers = tuple(sorted({case.seen.number for case in cases}))
        words = f"{self._station}: in frame {cases[0].seen.number} {cases[0].words}."
        practice = known_practice(rule, [case.got for case in cases])
        if practice is not None:
            words += f" Known of this kind of device ({practice.evidence}): {practice.practice}."
        if premise:
            words += f" The ICRC is that {premise}."
        advice = f"{RULES[rule].sentence} Mend this first: ICRC and PSN are judged behind it."
        found = Diagnosis(rule, (), numbers, len(numbers), len(numbers), words, advice)
        self._found.diagnoses.append(found)
        if rule in _OF_ENDS and not any(case.seen.body_size % 4 for case in cases):
            self._found.of_ends.append(found)


def _distinct(cases: Iterable[_Case]) -> int:
    """How many packets these are, copies aside."""
    return len({case.seen.frame[case.seen.bth_at : case.seen.end] for case in cases})


def _lacks_pad(seen: Observation) -> bool:
    """Whether the ICRC says that the sender left out the pad; a wrong PadCnt may be one bit."""
    return len(seen.body) % 4 != 0 and bool(taken_over([seen])[0])


def _one_bit_each(cases: Sequence[_Case]) -> bool:
    """Whether in every packet another single bit of a field is wrong, as the way makes it."""
    changed = {case.bits for case in cases}
    return all(bits.bit_count() == 1 for bits in changed) and 2 * len(changed) > len(cases)


def _whole(seen: Observation) -> Observation:
    """A packet without ICRC with all of its payload."""
    end = seen.end + ICRC_BYTES if seen.sound else seen.end
    return replace(seen, end=end, sound=True, found=0, right=0)


def _family(rule: str) -> str:
    """Under which name the chances of a rule are counted."""
    family = rule.partition("-")[0]
    return "RETH" if family == "PAD" or rule == "MTU-07" else family


def _flow(seen: Observation) -> FlowKey:
    return seen.interface, seen.source, seen.destination, seen.bth.dest_qpn
