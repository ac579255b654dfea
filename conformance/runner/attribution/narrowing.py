# SPDX-License-Identifier: BSD-2-Clause
"""Why plain messages stop: the one thing without which they do not.

When the control experiment has stopped as the case has, it is tried again with one thing
otherwise: another way to write an IPv4 address, bytes in an empty message, one path MTU, ones in
what the ICRC masks of an ACK. Where that goes on, the rule about this thing is broken.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from roceproof.conformance.runner.attribution.control import Controls, Message, Outcome, Skeleton
from roceproof.conformance.suite.reporting.failure_site import Cause, Kind, Stop
from roceproof.conformance.wire.headers import Deth
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

_FEW = 8
"""Bytes of a message of which only matters that there are some."""
_TTL, _TOS = (("ttl", 0xFF),), (("tos", 0xFF),)
_BYTE4 = (("fecn", 1), ("becn", 1), ("resv6", 0x3F))
_ANSWERED_BY_ACK = (Op.SEND, Op.SEND_IMM, Op.SEND_INV, Op.WRITE, Op.WRITE_IMM)


class _Trial(NamedTuple):
    """One thing otherwise; `concerns` says whether it may be why that control has stopped."""

    concerns: Callable[[Skeleton, Outcome], bool]
    vary: Callable[[Skeleton], Skeleton]
    cause: Cause
    goes_on: Callable[[Outcome], bool] = attrgetter("is_fine")


def cause_of(controls: Controls, skeleton: Skeleton) -> Cause | None:
    """What is known of why it stops."""
    for tried, trials in ((skeleton, _OF_SEVERAL), (_plain(controls, skeleton), _OF_ONE)):
        if tried is None:
            return None
        outcome = controls.of(tried)
        for trial in trials:
            if trial.concerns(tried, outcome) and trial.goes_on(controls.of(trial.vary(tried))):
                return trial.cause
    return None


def _plain(controls: Controls, skeleton: Skeleton) -> Skeleton | None:
    """The message that stops it, alone; of few bytes, if it has any."""
    stop = _stop_of(controls.of(skeleton))
    if stop is None or stop.message is None:
        return None
    stopped = skeleton.messages[stop.message.ordinal - 1]
    message = Message(stopped.op, _FEW if stopped.size else 0, 0)
    return Skeleton((skeleton.pairs[skeleton.on],), 0, (message,))


def _stop_of(outcome: Outcome) -> Stop | None:
    return outcome.failure.stop if outcome.failure is not None else None


def _stops_at(outcome: Outcome, kind: Kind) -> bool:
    stop = _stop_of(outcome)
    return stop is not None and stop.kind is kind


def _with_pairs(skeleton: Skeleton, **said: Any) -> Skeleton:
    return replace(skeleton, pairs=tuple(pair._replace(**said) for pair in skeleton.pairs))


def _at_one_mtu(skeleton: Skeleton) -> Skeleton:
    return _with_pairs(skeleton, path_mtu=skeleton.pairs[skeleton.on].path_mtu)


def _with_bytes(skeleton: Skeleton) -> Skeleton:
    return replace(skeleton, messages=tuple(m._replace(size=_FEW) for m in skeleton.messages))


def _is_mute_over_ipv4(skeleton: Skeleton, outcome: Outcome) -> bool:
    is_mute = _stops_at(outcome, Kind.NO_PACKET) and not outcome.has_sent
    return is_mute and not any(pair.is_ipv6 for pair in skeleton.pairs)


def _lacks_an_empty_one(skeleton: Skeleton, outcome: Outcome) -> bool:
    is_empty = any(not m.size and m.op in _ANSWERED_BY_ACK for m in skeleton.messages)
    return is_empty and _stops_at(outcome, Kind.NO_PACKET)


def _heeds_no_ack(skeleton: Skeleton, outcome: Outcome) -> bool:
    is_acknowledged = all(m.op in _ANSWERED_BY_ACK for m in skeleton.messages)
    is_reliable = skeleton.pairs[skeleton.on].service is Service.RC
    return is_reliable and is_acknowledged and _stops_at(outcome, Kind.NO_COMPLETION)


def _answered() -> Iterator[_Trial]:
    for fields, words, rules in (
        (_TTL, "the TTL", ("IP-09", "ICRC-13")),
        (_TOS, "DSCP and ECN", ("IP-09", "ICRC-13")),
        (_BYTE4, "FECN, BECN and what is reserved beside them", ("ICRC-13",)),
        (_TTL + _TOS + _BYTE4, "all that the ICRC masks of IP and BTH", ("ICRC-13",)),
    ):
        cause = Cause(f"an ACK with {words} all ones completes it", rules)
        yield _Trial(_heeds_no_ack, partial(replace, answer=fields), cause)


def _lacks_a_full_datagram(skeleton: Skeleton, outcome: Outcome) -> bool:
    stop, pair = _stop_of(outcome), skeleton.pairs[skeleton.on]
    is_datagram = pair.service is Service.UD and _stops_at(outcome, Kind.NO_PACKET)
    return bool(is_datagram and stop and stop.message and stop.message.work.size == pair.path_mtu)


def _less_by_a_header(skeleton: Skeleton) -> Skeleton:
    room = skeleton.pairs[skeleton.on].path_mtu - Deth.SIZE
    return replace(
        skeleton, messages=tuple(m._replace(size=min(m.size, room)) for m in skeleton.messages)
    )


_OF_SEVERAL = (
    _Trial(
        lambda skeleton, _: len({pair.path_mtu for pair in skeleton.pairs}) > 1,
        _at_one_mtu,
        Cause("if all queue pairs have its path MTU it is right", ("MTU-05",)),
    ),
    _Trial(
        _lacks_a_full_datagram,
        _less_by_a_header,
        Cause("one that leaves room for the DETH in the path MTU comes", ("UD-04",)),
    ),
)
_OF_ONE = (
    _Trial(
        _is_mute_over_ipv4,
        partial(_with_pairs, is_ipv6=True),
        Cause("over IPv6 it comes", ("GID-01",)),
    ),
    _Trial(
        _is_mute_over_ipv4,
        partial(_with_pairs, is_compatible=True),
        Cause("if the peer's GID is ::a.b.c.d, not ::ffff:a.b.c.d, a frame leaves", ("GID-01",)),
        attrgetter("has_sent"),
    ),
    _Trial(_lacks_an_empty_one, _with_bytes, Cause("one that is not empty comes", ("MTU-04",))),
    *_answered(),
    _Trial(
        _heeds_no_ack,
        partial(replace, is_late=True),
        Cause("an ACK that comes later completes it", ("ACK-15",)),
    ),
    _Trial(
        _heeds_no_ack,
        partial(_with_pairs, has_low_number=True),
        Cause(f"on a queue pair whose number is below {1 << 16:,} it completes", ("QPS-07",)),
    ),
)
