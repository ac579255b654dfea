# SPDX-License-Identifier: BSD-2-Clause
"""The PSN half of the diagnosis: start, counting, recovery and responder of every connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from roceproof.conformance.diagnosis import psn_recovery, psn_responder
from roceproof.conformance.diagnosis.observation import Observation, address_text
from roceproof.conformance.diagnosis.psn_increment import carry, hypotheses, meet_neighbours
from roceproof.conformance.diagnosis.psn_start import judge_start
from roceproof.conformance.diagnosis.psn_stream import Step, Stream, streams_of
from roceproof.conformance.diagnosis.psn_timeline import PSN_MODULUS, Key, sides_of
from roceproof.conformance.diagnosis.result import UNDECIDED, Diagnosis
from roceproof.conformance.diagnosis.signatures import SIGNATURES, title


class _Evidence(NamedTuple):
    """Frames of one direction that one class of signatures explains, and how they show it."""

    blamed: bytes
    """The address of the device that is at fault."""
    ids: tuple[str, ...]
    frames: tuple[int, ...]
    text: str


def explain_psns(
    observations: list[Observation], facts: Mapping[str, Any] | None
) -> list[Diagnosis]:
    """Explain the PSNs of every connection; nothing if all are right."""
    sides = sides_of(observations, facts)
    streams = [stream for side in sides for stream in streams_of(side)]
    meet_neighbours(streams)
    evidence = [
        found
        for stream in streams
        for found in (*_of_start(stream, streams), *_of_counting(stream), *_of_recovery(stream))
    ]
    evidence += [found for stream in streams for found in _of_responder(stream)]
    return _merge(evidence)


def _of_start(stream: Stream, streams: Sequence[Stream]) -> Iterator[_Evidence]:
    begins = [other for other in streams if other.side is stream.side]
    if begins[0] is not stream:
        return
    start = judge_start(stream, [other for other in streams if other is not stream])
    if start is not None:
        key, first = stream.side.key, stream.first
        text = (
            f"{key}: frame {first.number} begins at PSN {first.psn:#08x}, "
            f"{start.expected:#08x} is due"
        )
        yield _Evidence(key.source, start.ids, (first.number,), text)


def _of_counting(stream: Stream) -> Iterator[_Evidence]:
    key = stream.side.key
    for id_, marked in carry(stream):
        bits = f"{marked[0].reserved7:#04x}"
        text = f"{key}: the bits beside AckReq are {bits} in frame {marked[0].number}"
        yield _Evidence(key.source, (id_,), tuple(sent.number for sent in marked), text)
    resumed = {
        recovery.onward.number
        for recovery in psn_recovery.wrong_returns(stream)
        if recovery.onward is not None
    }
    wrong = [step for step in stream.wrong if step.after.number not in resumed]
    if wrong:
        frames = tuple(step.after.number for step in wrong)
        yield _Evidence(key.source, tuple(hypotheses(stream)), frames, _step_text(key, wrong))


def _step_text(key: Key, wrong: Sequence[Step]) -> str:
    step = wrong[0]
    due = (step.before.psn + (step.healthy or 1)) % PSN_MODULUS
    return (
        f"{key}: {len(wrong)} steps of the PSN are wrong; frame {step.after.number} has "
        f"{step.after.psn:#08x} behind {step.before.psn:#08x}, {due:#08x} is due"
    )


def _of_recovery(stream: Stream) -> Iterator[_Evidence]:
    key = stream.side.key
    again = psn_recovery.new_psns(stream)
    if again:
        frames = tuple(sent.number for sent in again)
        text = (
            f"{key}: frame {frames[0]} carries what was sent before, under PSN {again[0].psn:#08x}"
        )
        yield _Evidence(key.source, ("P11",), frames, text)
    restarts = psn_recovery.wrong_restarts(stream)
    if restarts:
        nak, jump = restarts[0]
        frames = tuple(sent.number for _, sent in restarts)
        text = (
            f"{key}: frame {nak.number} asks for PSN {nak.psn:#08x}, "
            f"the resend begins at {jump.psn:#08x} in frame {jump.number}"
        )
        yield _Evidence(key.source, ("P17",), frames, text)
    returns = [each for each in psn_recovery.wrong_returns(stream) if each.onward is not None]
    if returns:
        frames = tuple(each.onward.number for each in returns if each.onward)
        text = (
            f"{key}: behind the repeats frame {frames[0]} does not go on at {returns[0].due:#08x}"
        )
        yield _Evidence(key.source, ("P18",), frames, text)
    replays = psn_recovery.corner_replays(stream)
    if replays:
        frames = tuple(sent.number for sent in replays)
        text = f"{key}: frame {frames[0]} repeats PSN {replays[0].psn:#08x}, which is acknowledged"
        yield _Evidence(key.source, ("P19",), frames, text)


def _of_responder(stream: Stream) -> Iterator[_Evidence]:
    side = stream.side
    blamed = side.key.destination
    for id_, replies, what in (
        ("P20", psn_responder.constant_offset(side), "acknowledges a PSN beside the request's"),
        ("P21", psn_responder.moved_by_damage(side), "takes a damaged request for received"),
        ("P22", psn_responder.short_reads(stream), "asks for a PSN inside a READ's range"),
    ):
        if replies:
            frames = tuple(reply.number for reply in replies)
            text = f"{side.key}: frame {frames[0]} {what} (PSN {replies[0].psn:#08x})"
            yield _Evidence(blamed, (id_,), frames, text)


def _merge(evidence: Sequence[_Evidence]) -> list[Diagnosis]:
    """One diagnosis for what one device does in all its connections."""
    groups: dict[tuple[bytes, tuple[str, ...]], list[_Evidence]] = {}
    for found in evidence:
        groups.setdefault((found.blamed, tuple(dict.fromkeys(found.ids))), []).append(found)
    return [_diagnosis(blamed, ids, found) for (blamed, ids), found in groups.items()]


def _diagnosis(blamed: bytes, ids: tuple[str, ...], found: Sequence[_Evidence]) -> Diagnosis:
    frames = tuple(sorted({number for each in found for number in each.frames}))
    shown = "; ".join(each.text for each in found[:3])
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    if not ids:
        text = f"{address_text(blamed)}: no hypothesis fits. {shown}{more}."
        advice = (
            "Give the start PSNs with --qps, and capture both directions from the first packet."
        )
        return Diagnosis(UNDECIDED, (), frames, 0, len(frames), text, advice)
    id_, *others = ids
    row = SIGNATURES[id_]
    text = f"{address_text(blamed)}: {title(id_)}. {shown}{more}."
    advice = f"Look at {row.look}."
    if others:
        names = "; ".join(f"{other}: {title(other)}" for other in others)
        traffic = " or ".join(dict.fromkeys(SIGNATURES[each].traffic for each in ids))
        advice += f" This traffic fits as well: {names}. To tell them apart, send {traffic}."
    return Diagnosis(id_, tuple(others), frames, len(frames), len(frames), text, advice)
