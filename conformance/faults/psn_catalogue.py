# SPDX-License-Identifier: BSD-2-Clause
"""P01-P25 as rows: the variants of each fault, and the traffic in which it shows.

`captures` plays one variant over a conversation. The first station is the
faulty one; its peer is correct and reacts as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from roceproof.conformance.faults import psn_expect_faults as expect
from roceproof.conformance.faults import psn_send_faults as send
from roceproof.conformance.faults.plan import Kind
from roceproof.conformance.faults.psn_habits import Device, ExpectHabits, SendHabits
from roceproof.conformance.faults.queue_pair import Habits
from roceproof.conformance.faults.requester_model import Trouble
from roceproof.conformance.faults.traffic import Capture, Conversation
from roceproof.dpi.records import Service

_Changes = Mapping[str, Any]


class PsnFault(NamedTuple):
    """One row; `runs` says for each capture whether the device meets back-pressure."""

    id: str
    title: str
    variants: tuple[type[SendHabits] | type[ExpectHabits], ...]
    setting: _Changes = MappingProxyType({})
    own_trouble: Trouble = Trouble()
    peer_trouble: Trouble = Trouble()
    runs: tuple[bool, ...] = (False,)
    note: str = ""
    variant_settings: tuple[_Changes, ...] = ()


_RC = {"services": (Service.RC,)}
_UC = {"services": (Service.UC,)}
_LONG = {
    "lengths": (700, 901, 1500, 2047),
    "path_mtus": (256, 512),
    "kinds": (Kind.SEND, Kind.WRITE),
}
_LOSSES = Trouble(lost=frozenset({6, 17, 31}))
_EMPTY = {"lengths": (0, 5, 33, 0, 1021)}

_ROWS = (
    PsnFault(
        "P01",
        "starts at rq_psn instead of sq_psn",
        (send.StartsAtOwnExpected,),
        note="needs the configured PSNs, and that they differ",
    ),
    PsnFault(
        "P02",
        "off by one at the start",
        (send.StartsLate, send.StartsEarly),
        note="needs the configured PSNs",
    ),
    PsnFault(
        "P03",
        "increments per message",
        (send.CountsMessages,),
        note="needs messages of several packets",
    ),
    PsnFault(
        "P04",
        "16-bit counter",
        (send.CountsSixteenBits,),
        {"start_psns": (0x12FFFA, 0x7FFFFC, 0x00FFFE, 0xABFFF7)},
        note="shows only where the lower 16 bits wrap",
    ),
    PsnFault(
        "P05",
        "carry into the byte of AckReq",
        (send.CarriesOver,),
        {"start_psns": (0xFFFFFA, 0xFFFFFC, 0xFFFFFE, 0xFFFFF7)},
        note="shows only behind FFFFFF",
    ),
    PsnFault(
        "P06",
        "increments on received or sent ACK",
        (send.CountsAcksReceived, send.CountsAcksSent),
        {
            **_RC,
            "coalesces": (False,),
            "asks_every": (1,),
            "lengths": (3, 64, 257),
            "messages": (16, 16),
        },
        note="shows only where responses and new requests alternate",
    ),
    PsnFault(
        "P07",
        "increments per beat of payload",
        (send.CountsBeats, send.CountsNarrowBeats),
        note="needs payloads longer than a beat, of different lengths",
    ),
    PsnFault(
        "P08",
        "READ advances by 1, not N",
        (send.CountsReadsOnce,),
        {**_RC, "lengths": (700, 1500, 64, 9000)},
        note="needs a READ longer than the path MTU with a request behind it",
    ),
    PsnFault(
        "P09",
        "one register for all queue pairs",
        (send.SharesRegister,),
        note="needs several queue pairs at once",
    ),
    PsnFault(
        "P10",
        "not reset on reconnect",
        (send.SurvivesReset,),
        {"reconnects": 1},
        note="needs a second connection in the same context; here under new QPNs",
    ),
    PsnFault(
        "P11",
        "retransmission takes new PSNs",
        (send.RenumbersCopies,),
        {**_RC, **_LONG},
        own_trouble=_LOSSES,
        note="needs a loss",
    ),
    PsnFault(
        "P12",
        "aborted or empty work request takes a PSN too many",
        (send.EmptyTakesTwo, send.AbortedTakesOne),
        _EMPTY,
        note="an aborted work request is not on the wire: a gap between messages is all that shows",
    ),
    PsnFault(
        "P13",
        "empty message does not advance",
        (send.EmptyTakesNone,),
        _EMPTY,
        note="needs an empty message with a request behind it",
    ),
    PsnFault(
        "P14",
        "PSN latched early in a burst",
        (send.LatchesEarly,),
        {"lengths": (3, 64, 257, 600), "path_mtus": (256, 512, 1024)},
        note="needs bursts and pauses",
    ),
    PsnFault("P15", "PSN least significant byte first", (send.SwapsBytes,)),
    PsnFault(
        "P16",
        "increments twice under back-pressure",
        (send.CountsStalls,),
        runs=(False, True),
        note="one capture shows gaps; the cause takes the same run without stalls",
    ),
    PsnFault(
        "P17",
        "restarts at the wrong place after a NAK",
        (send.RestartsBehind, send.RestartsBefore, send.RestartsMessage),
        {**_RC, **_LONG},
        own_trouble=_LOSSES,
        note="needs a loss; n-1 and the message's start differ only in messages of three packets",
    ),
    PsnFault(
        "P18",
        "goes on at the wrong place after recovery",
        (send.ResumesInsideReplay, send.SkipsReplay),
        {**_RC, **_LONG},
        own_trouble=_LOSSES,
        note="needs a loss with new requests behind the recovery",
    ),
    PsnFault(
        "P19",
        "compares PSNs without the modulus",
        (send.ComparesUnsigned, send.ComparesSigned),
        _RC,
        note="shows only near 000000 (unsigned) or 800000 (signed)",
        variant_settings=(
            {"start_psns": (0xFFFFFA, 0xFFFFFC, 0xFFFFF0)},
            {"start_psns": (0x7FFFFA, 0x7FFFFC, 0x7FFFF0)},
        ),
    ),
    PsnFault(
        "P20",
        "responder off by one",
        (
            expect.ExpectsLater,
            expect.ExpectsEarlier,
            expect.AcknowledgesNext,
            expect.AcknowledgesPrevious,
        ),
        {**_RC, "messages": (8, 16)},
        note="the expected PSN needs the configured ones; the PSN of ACKs does not",
    ),
    PsnFault(
        "P21",
        "responder advances on a bad packet",
        (expect.CountsBadPackets,),
        {**_RC, "messages": (4, 96), "read_back": True, "lengths": (5, 64, 200)},
        peer_trouble=Trouble(corrupted=frozenset({2, 8, 14})),
        note="needs a corrupted packet; the READ behind the WRITE brings the old bytes",
    ),
    PsnFault(
        "P22",
        "responder advances by 1 over a READ",
        (expect.CountsReadsOnce,),
        {**_RC, "messages": (8, 16), "lengths": (700, 1500, 64, 9000)},
        note="needs a READ longer than the path MTU with a request behind it",
    ),
    PsnFault(
        "P23",
        "UC transmitter repeats or skips a PSN",
        (send.RepeatsOnStall, send.SkipsOnDrop),
        {**_UC, "messages": (24, 8)},
        note="the stall or drop inside the device does not show",
    ),
    PsnFault(
        "P24",
        "start PSN not masked to 24 bits",
        (send.StartsUnmasked, send.StartsUnmaskedWithAckReq, send.StartsUnmaskedAllOnes),
        note="with nothing but the top bit set it shows as AckReq on every packet",
    ),
    PsnFault(
        "P25",
        "requester and responder share one register",
        (send.FollowsThePeer,),
        {**_RC, "messages": (16, 16)},
        note="needs requests in both directions",
    ),
)

PSN_FAULTS: dict[str, PsnFault] = {row.id: row for row in _ROWS}


def captures(fault: str, conversation: Conversation, *, variant: int = 0) -> list[Capture]:
    """What a tap at the faulty station records, one capture for each run of the row."""
    row = PSN_FAULTS[fault]
    return [
        _played(row, conversation, variant, _habits(row.variants[variant], stalls))
        for stalls in row.runs
    ]


def healthy(fault: str, conversation: Conversation, *, variant: int = 0) -> Capture:
    """The same conversation with the same accidents between two correct stations."""
    return _played(PSN_FAULTS[fault], conversation, variant, Habits())


def _played(row: PsnFault, conversation: Conversation, variant: int, habits: Habits) -> Capture:
    changes = {**row.setting}
    if row.variant_settings:
        changes |= row.variant_settings[variant]
    troubles = (row.own_trouble, row.peer_trouble)
    return replace(conversation, **changes).capture(habits, troubles=troubles)


def _habits(kind: type[SendHabits] | type[ExpectHabits], stalls: bool) -> Habits:
    device = Device(stalls=stalls)
    if issubclass(kind, SendHabits):
        return Habits(sending=kind, device=device)
    return Habits(expecting=kind, device=device)
