# SPDX-License-Identifier: BSD-2-Clause
"""After how many of what a device stands still, or one of its streams, in all cases that get there.

No case gets further, and those that stop there have waited in vain for different things, so that it
is the count that stops them and nothing that they ask for.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import ceil
from typing import NamedTuple

from roceproof.conformance.runner.findings.ports import DEAF
from roceproof.conformance.runner.findings.root import DEAD
from roceproof.conformance.runner.findings.whole_run import Fact, Standings, of
from roceproof.conformance.suite.reporting.failure_site import Kind
from roceproof.dpi.session.streams import PORTS

_FEWEST, _FEWEST_WISHES, _FEWEST_DEAD = 8, 3, 3
_MOST_PASSING = 0.3
"""Of those that stop there so many may just have needed no more."""
_MOST, _NEARLY = 0.95, 0.9
"""What is true of nearly the most cases is preferred if it says more."""
_WINDOW, _SHARE = 0.05, 1 / 3
"""Of the dead so many have moved in this last part of the time that nearly all of them lived."""


class _Stuck(NamedTuple):
    """Cases that wait in vain; those of devices that send nothing, that are dead, that are deaf."""

    in_vain: set[str]
    silent: set[str]
    dead: set[str]
    heedless: set[str]


class _Counter(NamedTuple):
    """What a stream counts; the last so many may be on their way when it stops."""

    stream: str
    what: str
    no_more: str
    slack: int

    def after(self, count: int) -> str:
        """In words that something else follows."""
        return f"after {count:,} {self.what.format('s' * (count > 1))}"


_TAKEN = tuple(
    _Counter(stream, what, f"no other is taken: {PORTS[stream]} is low", slack)
    for stream, what, slack in (
        ("qpc", "configuration{}", 1),
        ("reg", "region{}", 1),
        ("rcv", "receive{}", 1),
        ("wr", "work request{}", 1),
        ("pl", "beat{} of payload", 2),
        ("rx", "beat{} of what it hears", 2),
    )
)
_GIVEN = tuple(
    _Counter(stream, what, f"no other {comes}: {PORTS[port]} is low", slack)
    for stream, port, what, comes, slack in (
        ("left", "tx", "frame{}", "leaves", 1),
        ("tx", "tx", "beat{} of frames", "leaves", 2),
        ("cpl", "cpl", "completion{}", "comes", 1),
        ("rcp", "rcp", "completed receive{}", "comes", 1),
    )
)
_DEAD = "the device stands still: rx_tready_o is low and nothing is answered any more"
_HEARD_OF = ("cpl", "rcp")
"""They wait for what a device is sent."""
_SILENT = ("left", "tx")


def standstill(
    standings: Mapping[str, Standings],
    *,
    in_vain: set[str],
    lost: Mapping[str, str],
    caused: Collection[str],
) -> list[Fact]:
    """The one that is true of most cases, if there is one.

    `in_vain` are those that failed because something never came, `lost` says what each device did
    not answer behind its case, and `caused` are those of messages that have more in common.
    """
    silent = {name for name in in_vain if lost.get(name, True)}
    dead = {name for name in silent if of(standings[name], "rx").waits}
    deaf = [*_of_hearing(standings, lost, silent - dead, in_vain)]
    heedless = {name for fact in deaf for name in fact.cases}
    found = list(_of_streams(_Stuck(in_vain, silent, dead, heedless), standings))
    found += _of_time(standings, in_vain, dead)
    found = found or deaf
    most = max((len(fact.cases) for fact in found), default=0)
    if found:
        return [fact for fact in found if len(fact.cases) >= _NEARLY * most][:1]
    are_all = len(dead) >= max(_FEWEST_DEAD, _NEARLY * len(in_vain))
    is_told = len(dead.intersection(caused)) >= _NEARLY * len(dead)
    return [] if is_told or not are_all else [Fact(_DEAD, frozenset(dead), trouble=DEAD)]


def _of_streams(stuck: _Stuck, standings: Mapping[str, Standings]) -> Iterator[Fact]:
    in_vain, silent, dead, heedless = stuck
    stands = []
    for counter in (*_TAKEN, *_GIVEN):
        beats = {name: of(each, counter.stream).beats for name, each in standings.items()}
        owed = in_vain - heedless if counter.stream in _HEARD_OF else in_vain
        most = _usual(beats[name] for name in owed if beats[name])
        ends = ((most, most), (most - counter.slack, most), (most, most + counter.slack))
        stops = (_stopped(beats, first, last, standings, owed) for first, last in ends)
        at = max(stops, key=len)
        if not at:
            continue
        if counter in _TAKEN:
            waiting = {name for name in at if of(standings[name], counter.stream).waits}
        else:
            waiting = {*at} & silent if counter.stream in _SILENT else {*at}
        is_dead = len(at & dead) >= _MOST * len(at)
        after = counter.after(_usual(beats[name] for name in at))
        if len(waiting) >= _MOST * len(at) and (counter in _TAKEN or not is_dead):
            no_more = counter.no_more
            if counter.stream == "left" and all(of(standings[name], "tx").amid for name in at):
                no_more = "the next does not end: tx_tvalid_o goes low before tx_tlast_o"
            elif counter.stream == "cpl" and not _mostly_owed(standings, at):
                no_more = "no more work leaves, though wr_ready_o takes it"
                at |= {name for name in in_vain - dead if of(standings[name], "wr").beats > most}
            yield Fact(f"{after} {no_more}", at)
        elif is_dead and len(at) >= _MOST * len(dead):
            stands.append(Fact(f"{after} the device stands still", at))
    yield from stands


def _of_time(
    standings: Mapping[str, Standings], in_vain: set[str], dead: set[str]
) -> Iterator[Fact]:
    last = {
        name: max((stream.moved for stream in each.values()), default=0)
        for name, each in standings.items()
    }
    end = _nearly_last(last[name] for name in dead)
    there = {name for name, cycle in last.items() if cycle > (1 - _WINDOW) * end}
    at = _evidence(there, standings, in_vain)
    if at and len(at & dead) >= max(_MOST * len(at), _SHARE * len(dead)):
        cycle = _usual(last[name] for name in at & dead)
        yield Fact(f"after cycle {cycle:,} the device stands still", frozenset(dead))


def _of_hearing(
    standings: Mapping[str, Standings], lost: Mapping[str, str], silent: set[str], in_vain: set[str]
) -> Iterator[Fact]:
    """Frames that are taken, and are of no effect any more from one of them on."""
    heard = {name: of(standings[name], "heard").beats for name in standings}
    most = _nearly_last(heard[name] for name in heard if lost.get(name) == "")
    beyond = {name for name in silent if heard[name] >= most > 0}
    if len(beyond) >= max(_FEWEST, _MOST * len(in_vain)):
        yield Fact(f"after {most:,} frames that it hears {DEAF}", frozenset(beyond))


def _stopped(
    beats: Mapping[str, int],
    first: int,
    last: int,
    standings: Mapping[str, Standings],
    in_vain: set[str],
) -> frozenset[str]:
    """Those that wait in vain at one of these counts, if they are evidence of anything.

    Few may be beyond: those that reset their device count more than one life of it.
    """
    there = {name for name, count in beats.items() if max(1, first) <= count <= last}
    beyond = {name for name, count in beats.items() if count > last}
    at = _evidence(there, standings, in_vain)
    return at | (beyond & in_vain) if len(beyond) <= (1 - _MOST) * len(at) else frozenset()


def _evidence(
    there: set[str], standings: Mapping[str, Standings], in_vain: set[str]
) -> frozenset[str]:
    """Those of them that wait in vain, if they are enough, and few others are there."""
    at = there & in_vain
    wishes = {tuple(of(standings[name], stream).beats for stream in ("wr", "rx")) for name in at}
    is_enough = len(at) >= _FEWEST and len(wishes) >= _FEWEST_WISHES
    return frozenset(at if is_enough and len(there - at) <= _MOST_PASSING * len(at) else ())


def _nearly_last(counts: Iterable[int]) -> int:
    """The last, few apart: those that reset their device count more than one life of it."""
    ordered = sorted(counts)
    return ordered[ceil(_MOST * len(ordered)) - 1] if ordered else 0


def _usual(counts: Iterable[int]) -> int:
    """The most common of them, of several the largest."""
    return max(Counter(counts).items(), key=lambda each: each[::-1], default=(0, 0))[0]


def _mostly_owed(standings: Mapping[str, Standings], cases: frozenset[str]) -> bool:
    """Whether most of them wait for a completion, and not for what others have in their way."""
    return 2 * sum(Kind.NO_COMPLETION in standings[name] for name in cases) >= len(cases)
