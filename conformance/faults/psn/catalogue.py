# SPDX-License-Identifier: BSD-2-Clause
"""The faults of PSNs as rows: the variants of each fault, and the conversation in which it shows.

`captures` plays one variant over a conversation. The first station is the
faulty one; its peer is correct and reacts as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from roceproof.conformance.faults.conversation.network import Transmit
from roceproof.conformance.faults.conversation.plan import Kind
from roceproof.conformance.faults.conversation.psn_habits import Device, ExpectHabits, SendHabits
from roceproof.conformance.faults.conversation.queue_pair import Habits
from roceproof.conformance.faults.conversation.requester import Trouble
from roceproof.conformance.faults.conversation.traffic import Capture, Conversation
from roceproof.conformance.faults.psn import expect_faults as expect
from roceproof.conformance.faults.psn import send_faults as send
from roceproof.verbs.service import Service

_Changes = Mapping[str, Any]


class PsnFault(NamedTuple):
    """One row; `runs` says for each capture whether the device meets back-pressure.

    `limits` says what a capture cannot show of it.
    """

    id: str
    variants: tuple[type[SendHabits] | type[ExpectHabits], ...]
    setting: _Changes = MappingProxyType({})
    own_trouble: Trouble = Trouble()
    peer_trouble: Trouble = Trouble()
    runs: tuple[bool, ...] = (False,)
    limits: str = ""
    variant_settings: tuple[_Changes, ...] = ()


_RC = {"services": (Service.RC,)}
_UC = {"services": (Service.UC,)}
_LONG = {
    "lengths": (700, 901, 1500, 2047),
    "path_mtus": (256, 512),
    "kinds": (Kind.SEND, Kind.WRITE),
}
_PING_PONG = {
    "coalesces": (False,),
    "asks_every": (1,),
    "lengths": (3, 64, 257),
    "messages": (16, 16),
}
_LOSSES = Trouble(lost=frozenset({6, 17, 31}))
_EMPTY = {"lengths": (0, 5, 33, 0, 1021)}

_ROWS = (
    PsnFault(
        "P01",
        (send.StartsAtOwnExpected,),
        limits="without the configured PSNs nothing is wrong but the reaction of the peer",
    ),
    PsnFault(
        "P02",
        (send.StartsLate, send.StartsEarly),
        limits="without the configured PSNs nothing is wrong but the reaction of the peer",
    ),
    PsnFault("P03", (send.CountsMessages,)),
    PsnFault(
        "P04",
        (send.CountsSixteenBits,),
        {"start_psns": (0x12FFFA, 0x7FFFFC, 0x00FFFE, 0xABFFF7)},
    ),
    PsnFault(
        "P05",
        (send.CarriesOver,),
        {"start_psns": (0xFFFFFA, 0xFFFFFC, 0xFFFFFE, 0xFFFFF7)},
    ),
    PsnFault(
        "P06",
        (send.CountsAcksReceived, send.CountsAcksSent),
        {**_RC, **_PING_PONG},
    ),
    PsnFault(
        "P07",
        (send.CountsBeats, send.CountsNarrowBeats),
    ),
    PsnFault(
        "P08",
        (send.CountsReadsOnce,),
        {**_RC, "lengths": (700, 1500, 64, 9000)},
    ),
    PsnFault("P09", (send.SharesRegister,)),
    PsnFault(
        "P10",
        (send.SurvivesReset,),
        {"reconnects": 1},
        limits="one capture of both connections; here the second has new QPNs",
    ),
    PsnFault(
        "P11",
        (send.RenumbersCopies,),
        {**_RC, **_LONG},
        own_trouble=_LOSSES,
    ),
    PsnFault(
        "P12",
        (send.EmptyTakesTwo, send.AbortedTakesOne),
        _EMPTY,
        limits="an aborted work request itself is not on the wire, only a gap between messages",
    ),
    PsnFault(
        "P13",
        (send.EmptyTakesNone,),
        _EMPTY,
    ),
    PsnFault(
        "P14",
        (send.LatchesEarly,),
        {"lengths": (3, 64, 257, 600), "path_mtus": (256, 512, 1024)},
    ),
    PsnFault("P15", (send.SwapsBytes,)),
    PsnFault(
        "P16",
        (send.CountsStalls,),
        runs=(False, True),
        limits="one capture shows gaps only; the cause takes the same run without stalls",
    ),
    PsnFault(
        "P17",
        (send.RestartsBehind, send.RestartsBefore, send.RestartsMessage),
        {**_RC, **_LONG},
        own_trouble=_LOSSES,
    ),
    PsnFault(
        "P18",
        (send.ResumesInsideReplay, send.SkipsReplay),
        {**_RC, **_LONG},
        own_trouble=_LOSSES,
    ),
    PsnFault(
        "P19",
        (send.ComparesUnsigned, send.ComparesSigned),
        _RC,
        variant_settings=(
            {"start_psns": (0xFFFFFA, 0xFFFFFC, 0xFFFFF0)},
            {"start_psns": (0x7FFFFA, 0x7FFFFC, 0x7FFFF0)},
        ),
    ),
    PsnFault(
        "P20",
        (
            expect.ExpectsLater,
            expect.ExpectsEarlier,
            expect.AcknowledgesNext,
            expect.AcknowledgesPrevious,
        ),
        {**_RC, "messages": (8, 16)},
        limits="the expected PSN shows in what the peer gets back, against the configured one",
    ),
    PsnFault(
        "P21",
        (expect.CountsBadPackets,),
        {**_RC, "messages": (4, 96), "read_back": True, "lengths": (5, 64, 200)},
        peer_trouble=Trouble(corrupted=frozenset({2, 8, 14})),
        limits="it takes a READ of what the bad packet should have written",
    ),
    PsnFault(
        "P22",
        (expect.CountsReadsOnce,),
        {**_RC, "messages": (8, 16), "lengths": (700, 1500, 64, 9000)},
    ),
    PsnFault(
        "P23",
        (send.RepeatsOnStall, send.SkipsOnDrop),
        {**_UC, "messages": (24, 8)},
        limits="the stall or drop inside the device does not show",
    ),
    PsnFault(
        "P24",
        (send.StartsUnmasked, send.StartsUnmaskedWithAckReq, send.StartsUnmaskedAllOnes),
        limits="with the top bit alone it looks like AckReq on every packet",
    ),
    PsnFault(
        "P25",
        (send.FollowsThePeer,),
        {**_RC, "messages": (16, 16)},
    ),
)

PSN_FAULTS: dict[str, PsnFault] = {row.id: row for row in _ROWS}


def captures(
    fault: str,
    conversation: Conversation,
    *,
    variant: int = 0,
    transmit: Transmit | None = None,
) -> list[Capture]:
    """What a tap at the faulty station records, one capture for each run of the row."""
    row = PSN_FAULTS[fault]
    return [
        _played(row, conversation, variant, _habits(row.variants[variant], stalls), transmit)
        for stalls in row.runs
    ]


def healthy(fault: str, conversation: Conversation, *, variant: int = 0) -> Capture:
    """The same conversation with the same accidents between two correct stations."""
    return _played(PSN_FAULTS[fault], conversation, variant, Habits())


def _played(
    row: PsnFault,
    conversation: Conversation,
    variant: int,
    habits: Habits,
    transmit: Transmit | None = None,
) -> Capture:
    changes = {**row.setting}
    if row.variant_settings:
        changes |= row.variant_settings[variant]
    troubles = (row.own_trouble, row.peer_trouble)
    return replace(conversation, **changes).capture(habits, troubles=troubles, transmit=transmit)


def _habits(kind: type[SendHabits] | type[ExpectHabits], stalls: bool) -> Habits:
    device = Device(stalls=stalls)
    if issubclass(kind, SendHabits):
        return Habits(sending=kind, device=device)
    return Habits(expecting=kind, device=device)
