# SPDX-License-Identifier: BSD-2-Clause
"""Stories to compare and to draw, from healthy conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roceproof.conformance.faults.conversation.network import TimedFrame
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.review.story import Flow, Frame, Step, tell
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.verbs.service import Service

RC_ONLY = Conversation(
    seed=3, services=(Service.RC,), connections=2, ip_versions=(4,), tagged=(False,), ce_rate=0
)


def frames_of(timed: Iterable[TimedFrame]) -> list[Frame]:
    return [Frame(n, time, data, len(data)) for n, (time, data) in enumerate(timed, 1)]


def counterparts_of(conversation: Conversation) -> dict[Flow, Flow]:
    found = {}
    for row in conversation.capture().facts["qps"]:
        here = Flow(row["address"], row["remote_address"], row["remote_qpn"])
        back = Flow(row["remote_address"], row["address"], row["qpn"])
        found[here], found[back] = back, here
    return found


def story(
    conversation: Conversation, change: Callable[[Packet], Packet] = lambda packet: packet
) -> list[Step]:
    """The conversation's story, each RoCE packet changed and built anew."""
    timed = []
    for time, data in conversation.frames():
        packet = parse(data)
        timed.append(TimedFrame(time, build(change(packet)) if packet else data))
    return tell(frames_of(timed), counterparts_of(conversation))
