# SPDX-License-Identifier: BSD-2-Clause
"""What is true of a device in every case of a run: a stream that never moves, ARP never answered.

Each fact stands for one stream, in the order in which work goes through a device. The first that
holds is the cause; what comes behind it waits for it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from roceproof.conformance.runner.findings.root import STREAM
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.dpi.session.streams import PORTS, Standing

Standings = Mapping[str, Standing]
_NONE = Standing(0)


class Stream(NamedTuple):
    """What is said of a stream that never moves; `concerns` says whether it was to move at all."""

    says: str
    concerns: Callable[[Standings], bool]
    holds: Callable[[Standings], bool]
    breaks: str = "LIVE-01"
    brings: str = ""
    """What failures of other cases are alike that come of it."""
    shows: Callable[[Standings], bool] = lambda _: False
    """Whether a case that was not to wait for it shows the same."""


@dataclass(frozen=True)
class Fact:
    """A sentence, and the cases of which it is true: all that it concerns."""

    says: str
    cases: frozenset[str]
    trouble: str = STREAM
    breaks: str = ""
    """The one rule that it breaks; what else its cases lack comes of it."""
    brings: str = ""


def of(standings: Standings, name: str) -> Standing:
    """How a stream stands; as one that nobody uses, where the device has none."""
    return standings.get(name, _NONE)


def _never_taken(name: str, what: str) -> Stream:
    return Stream(
        f"no {what} was ever taken: {PORTS[name]} is low",
        lambda all_of: _beats(all_of, name) > 0 or of(all_of, name).waits,
        lambda all_of: _beats(all_of, name) == 0,
    )


def _beats(standings: Standings, name: str) -> int:
    return of(standings, name).beats


_STREAMS = (
    _never_taken("qpc", "configuration"),
    _never_taken("reg", "region"),
    _never_taken("rcv", "receive"),
    _never_taken("wr", "work request"),
    _never_taken("pl", "payload"),
    _never_taken("rx", "frame"),
    Stream(
        "work was taken, and no frame ever left: tx_tvalid_o is low",
        lambda all_of: _beats(all_of, "wr") > 0 and _moves_or_stops(all_of, "tx", Kind.NO_PACKET),
        lambda all_of: _beats(all_of, "tx") == 0,
    ),
    Stream(
        "the device withdraws every frame: tx_tuser_o is high in its last beat",
        lambda all_of: _beats(all_of, "tx") > 0,
        lambda all_of: _beats(all_of, "withdrawn") > 0 and _beats(all_of, "left") == 0,
    ),
    Stream(
        "no frame ever ended: tx_tvalid_o goes low before tx_tlast_o",
        lambda all_of: _beats(all_of, "tx") > 0,
        lambda all_of: all_of["tx"].amid and _beats(all_of, "left") == 0,
    ),
    Stream(
        "more work completes than was taken: cpl_o tells some twice, or what a reset ended",
        lambda all_of: _beats(all_of, "cpl") > _beats(all_of, "wr") > 0,
        lambda _: True,  # wherever it is seen it is wrong
        breaks="",  # what its cases say, since no rule says just that
        brings="other work completed",
    ),
    Stream(
        "frames left, and no work was ever completed: cpl_valid_o is low",
        lambda all_of: (
            min(_beats(all_of, "wr"), _beats(all_of, "left")) > 0
            and _moves_or_stops(all_of, "cpl", Kind.NO_COMPLETION)
        ),
        lambda all_of: _beats(all_of, "cpl") == 0,
        shows=lambda all_of: _beats(all_of, "left") > 0 == _beats(all_of, "cpl"),
    ),
    Stream(
        "receives were taken, and none was ever completed: rcp_valid_o is low",
        lambda all_of: (
            _beats(all_of, "rcv") > 0 and _moves_or_stops(all_of, "rcp", Kind.NO_COMPLETION)
        ),
        lambda all_of: _beats(all_of, "rcp") == 0,
        shows=lambda all_of: _beats(all_of, "rcv") > 0 == _beats(all_of, "rcp"),
    ),
    Stream(
        "requests were taken, and nothing answers: look at memory or receives, then tx_tvalid_o",
        lambda all_of: _beats(all_of, "rx") > 0 and _moves_or_stops(all_of, "tx", Kind.NO_PACKET),
        lambda all_of: _beats(all_of, "tx") == _beats(all_of, "wr") == 0,
    ),
)


def _moves_or_stops(standings: Standings, name: str, kind: Kind) -> bool:
    """Whether a stream was to move: it did, or that is what the case waited for."""
    return _beats(standings, name) > 0 or kind in standings


def facts(standings: Mapping[str, Standings]) -> list[Fact]:
    """The first that is true of every case that it concerns, by names of cases; none if none is."""
    for stream in _STREAMS:
        concerned = [name for name, each in standings.items() if each and stream.concerns(each)]
        if concerned and all(stream.holds(standings[name]) for name in concerned):
            shown = (name for name, each in standings.items() if each and stream.shows(each))
            cases = frozenset([*concerned, *shown])
            return [Fact(stream.says, cases, breaks=stream.breaks, brings=stream.brings)]
    return []


def said_of_one(standings: Standings, stop: Stop | None) -> str | None:
    """What is true of a single case, which has stopped there."""
    found = dict(standings)
    if stop is not None:
        found[stop.kind] = Standing(1)
    return next((fact.says for fact in facts({"": found})), None) if standings else None


def in_all(fact: Fact, ran: Sequence[str]) -> str:
    """The sentence; where it is true of every case, it says so. Others are counted in front."""
    return f"{fact.says} in all {len(ran)} cases" if 1 < len(fact.cases) == len(ran) else fact.says
