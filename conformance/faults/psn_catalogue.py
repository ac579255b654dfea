# SPDX-License-Identifier: BSD-2-Clause
"""The faults of PSNs as rows: the variants of each fault, and the conversation in which it shows.

`captures` plays one variant over a conversation. The first station is the
faulty one; its peer is correct and reacts as such.
"""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from roceproof.conformance.faults.conversation.network import Transmit
from roceproof.conformance.faults.conversation.plan import Kind
from roceproof.conformance.faults.conversation.queue_pair import Registers, right_registers
from roceproof.conformance.faults.conversation.requester import Trouble
from roceproof.conformance.faults.conversation.traffic import Capture, Conversation
from roceproof.conformance.faults.psn import counting_faults as counts
from roceproof.conformance.faults.psn import recovery_faults as recovery
from roceproof.conformance.faults.psn.counting import Counting
from roceproof.verbs.service import Service

_Changes = Mapping[str, Any]


def _with(kind: type[Counting], **design: Any) -> Registers:
    return lambda bank: kind(Random(0), bank, **design)


class PsnFault(NamedTuple):
    """One row; `runs` says for each capture whether the device meets what makes the fault show.

    `limits` says what a capture cannot show of it.
    """

    id: str
    variants: tuple[Registers, ...]
    setting: _Changes = MappingProxyType({})
    own_trouble: Trouble = Trouble()
    peer_trouble: Trouble = Trouble()
    runs: tuple[bool, ...] = (True,)
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
        (_with(counts.OtherStart),),
        limits="without the configured PSNs nothing is wrong but the reaction of the peer",
    ),
    PsnFault(
        "P02",
        (_with(counts.IncrementedFirst), _with(counts.DecrementedFirst)),
        limits="without the configured PSNs nothing is wrong but the reaction of the peer",
    ),
    PsnFault("P03", (_with(counts.PerMessage),)),
    PsnFault(
        "P04",
        (_with(counts.NarrowCounter),),
        {"start_psns": (0x12FFFA, 0x7FFFFC, 0x00FFFE, 0xABFFF7)},
    ),
    PsnFault(
        "P05",
        (_with(counts.WideCounter),),
        {"start_psns": (0xFFFFFA, 0xFFFFFC, 0xFFFFFE, 0xFFFFF7)},
    ),
    PsnFault("P06", (_with(counts.AckIn), _with(counts.AckOut)), {**_RC, **_PING_PONG}),
    PsnFault("P07", (_with(counts.PerBeat, width=64), _with(counts.PerBeat, width=32))),
    PsnFault("P08", (_with(counts.ReadsAsOne),), {**_RC, "lengths": (700, 1500, 64, 9000)}),
    PsnFault("P09", (_with(counts.OneForAll),)),
    PsnFault(
        "P10",
        (_with(counts.NeverReloaded),),
        {"reconnects": 1},
        limits="one capture of both connections; here the second has new QPNs",
    ),
    PsnFault("P11", (_with(recovery.NewForCopies),), {**_RC, **_LONG}, own_trouble=_LOSSES),
    PsnFault(
        "P12",
        (_with(counts.EmptyTwice), _with(counts.AbortedCounts, every=5)),
        _EMPTY,
        limits="an aborted work request itself is not on the wire, only a gap between messages",
    ),
    PsnFault("P13", (_with(counts.EmptyNever),), _EMPTY),
    PsnFault(
        "P14",
        (_with(counts.LateRegister, close_ns=1_501),),
        {"lengths": (3, 64, 257, 600), "path_mtus": (256, 512, 1024)},
    ),
    PsnFault("P15", (_with(counts.SwappedBytes),)),
    PsnFault(
        "P16",
        (_with(counts.Stalled, every=4),),
        runs=(False, True),
        limits="one capture shows gaps only; the cause takes the same run without stalls",
    ),
    PsnFault(
        "P17",
        (_with(recovery.OneTooLate), _with(recovery.OneTooEarly), _with(recovery.WholeMessages)),
        {**_RC, **_LONG},
        own_trouble=_LOSSES,
    ),
    PsnFault(
        "P18",
        (_with(recovery.ReturnsInside), _with(recovery.CopiesCounted)),
        {**_RC, **_LONG},
        own_trouble=_LOSSES,
    ),
    PsnFault(
        "P19",
        (_with(recovery.PlainCompare), _with(recovery.SignedCompare)),
        _RC,
        variant_settings=(
            {"start_psns": (0xFFFFFA, 0xFFFFFC, 0xFFFFF0)},
            {"start_psns": (0x7FFFFA, 0x7FFFFC, 0x7FFFF0)},
        ),
    ),
    PsnFault(
        "P20",
        (
            _with(recovery.ExpectsNext),
            _with(recovery.ExpectsNext, off=-1),
            _with(recovery.AcknowledgesNext),
            _with(recovery.AcknowledgesNext, off=-1),
        ),
        {**_RC, "messages": (8, 16)},
        limits="the expected PSN shows in what the peer gets back, against the configured one",
    ),
    PsnFault(
        "P21",
        (_with(recovery.BelievesDamaged),),
        {**_RC, "messages": (4, 96), "read_back": True, "lengths": (5, 64, 200)},
        peer_trouble=Trouble(corrupted=frozenset({2, 8, 14})),
        limits="it takes a READ of what the bad packet should have written",
    ),
    PsnFault(
        "P22",
        (_with(recovery.ShortReads),),
        {**_RC, "messages": (8, 16), "lengths": (700, 1500, 64, 9000)},
    ),
    PsnFault(
        "P23",
        (_with(counts.UnreliableRepeats, every=6), _with(counts.UnreliableSkips, every=6)),
        {**_UC, "messages": (24, 8)},
        limits="the stall or drop inside the device does not show",
    ),
    PsnFault(
        "P24",
        (
            _with(counts.WideStart, upper=0x01),
            _with(counts.WideStart, upper=0x80),
            _with(counts.WideStart, upper=0xFF),
        ),
        limits="with the top bit alone it looks like AckReq on every packet",
    ),
    PsnFault("P25", (_with(counts.PeerMoves),), {**_RC, "messages": (16, 16)}),
)

PSN_FAULTS: dict[str, PsnFault] = {row.id: row for row in _ROWS}


def captures(
    fault: str, conversation: Conversation, *, variant: int = 0, transmit: Transmit | None = None
) -> list[Capture]:
    """What a tap at the faulty station records, one capture for each run of the row."""
    row = PSN_FAULTS[fault]
    return [
        _played(row, conversation, variant, row.variants[variant] if shows else None, transmit)
        for shows in row.runs
    ]


def healthy(fault: str, conversation: Conversation, *, variant: int = 0) -> Capture:
    """The same conversation with the same accidents between two correct stations."""
    return _played(PSN_FAULTS[fault], conversation, variant)


def _played(
    row: PsnFault,
    conversation: Conversation,
    variant: int,
    registers: Registers | None = None,
    transmit: Transmit | None = None,
) -> Capture:
    changes = {**row.setting}
    if row.variant_settings:
        changes |= row.variant_settings[variant]
    troubles = (row.own_trouble, row.peer_trouble)
    return replace(conversation, **changes).capture(
        registers or right_registers, troubles=troubles, transmit=transmit
    )
