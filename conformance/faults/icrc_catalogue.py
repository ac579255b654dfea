# SPDX-License-Identifier: BSD-2-Clause
"""S01-S64 as rows: what each is, what else it could be, and what traffic tells.

`spoil` turns healthy frames into what the chosen stations would have sent with
the fault in them; with several static faults, with all of them in one design.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from roceproof.conformance.faults import icrc_dynamic as dynamic
from roceproof.conformance.faults import icrc_structural as structural
from roceproof.conformance.faults.engine import Engine, Outgoing, SentBy, through
from roceproof.conformance.faults.icrc_static import compose
from roceproof.conformance.faults.network import TimedFrame
from roceproof.conformance.faults.recipe import Recipe
from roceproof.errors import RoceproofError


class FaultError(RoceproofError):
    """Faults that cannot be planted together, or an id that does not exist."""


class IcrcFault(NamedTuple):
    """One row; `shows` names the traffic without which the fault cannot be seen or told apart."""

    id: str
    title: str
    shows: str = "any packet"
    equivalent: tuple[str, ...] = ()
    engines: tuple[type[Engine], ...] = ()
    runs: tuple[bool, ...] = (False,)

    @property
    def is_static(self) -> bool:
        """Whether one packet is enough to compute it."""
        return not self.engines


_LENGTHS = "packets of two lengths"
_BUS = "payloads of many lengths"

_STATIC = (
    IcrcFault("S01", "TTL / hop limit is not masked", "TTL or hop limit below 255"),
    IcrcFault("S02", "TOS / traffic class is not masked", "TOS or traffic class other than FF"),
    IcrcFault("S03", "IPv4 header checksum is not masked", "IPv4 with a checksum other than FFFF"),
    IcrcFault("S04", "UDP checksum is not masked", "two lengths, or UDP checksums that differ"),
    IcrcFault("S05", "byte 4 of the BTH is not masked", "a CNP beside data, against S08"),
    IcrcFault("S06", "nothing is masked", "TTL and TOS other than FF"),
    IcrcFault("S07", "masked with zeros instead of ones", _LENGTHS),
    IcrcFault("S08", "FECN and BECN are masked, the six bits beside them are not", "a CNP"),
    IcrcFault("S09", "byte 8 of the BTH is masked instead of byte 4", "AckReq set and clear"),
    IcrcFault("S10", "the IPv6 flow label is not masked", "IPv6 with a flow label"),
    IcrcFault("S11", "the prefix of eight FF bytes is missing", _LENGTHS),
    IcrcFault("S12", "the prefix is zeros", _LENGTHS),
    IcrcFault("S13", "the prefix has four FF bytes", _LENGTHS, ("init 0 without a prefix",)),
    IcrcFault("S14", "the Ethernet header stands in place of the prefix", "two MAC pairs"),
    IcrcFault("S15", "the Ethernet header follows the prefix", "two MAC pairs"),
    IcrcFault("S16", "the VLAN tag is covered", "a tagged packet"),
    IcrcFault("S17", "the IP header is not covered"),
    IcrcFault("S18", "IP and UDP header are not covered"),
    IcrcFault("S19", "the register starts at 0", _LENGTHS),
    IcrcFault("S20", "the final XOR is missing"),
    IcrcFault("S21", "the register starts at 0 and the final XOR is missing", _LENGTHS),
    IcrcFault("S22", "the seed DEBB20E3 is used and the prefix is fed as well", _LENGTHS),
    IcrcFault("S23", "most significant bit first, sent big-endian"),
    IcrcFault("S24", "most significant bit first, sent little-endian"),
    IcrcFault("S25", "the input is reflected, the result is not", equivalent=("S27",)),
    IcrcFault("S26", "the result is sent most significant byte first"),
    IcrcFault("S27", "the bits of each result byte are reversed", equivalent=("S25",)),
    IcrcFault("S28", "the 16-bit halves of the result are swapped"),
    IcrcFault("S29", "CRC-32C instead of CRC-32"),
    IcrcFault("S30", "the Ethernet pad is covered", "an untagged empty SEND ONLY over IPv4"),
    IcrcFault("S31", "the pad behind the payload is not covered", "L mod 4 other than 0"),
    IcrcFault("S32", "the lengths are taken before the ICRC is added"),
    IcrcFault("S33", "the lengths are zero when the CRC sees them"),
    IcrcFault("S34", "the IPv4 identification is zero when the CRC sees it", "IPv4 with an ID"),
    IcrcFault("S35", "IPv4 flags and fragment offset are masked", "IPv4"),
    IcrcFault("S36", "the ICRC field is fed as zeros"),
    IcrcFault("S37", "the ICRC field is fed as ones"),
    IcrcFault("S38", "the last beat of 8 bytes is padded with zeros", _BUS),
    IcrcFault("S39", "the last beat of 64 bytes is padded with zeros", _BUS),
    IcrcFault("S40", "the last, partial beat of 8 bytes is dropped", _BUS),
    IcrcFault("S41", "the extension headers are not covered", "an opcode with one"),
    IcrcFault("S42", "the payload is not covered", "a payload"),
    IcrcFault("S43", "32-bit words are fed with their bytes swapped"),
    IcrcFault("S44", "the CRC sees PSN + 1"),
    IcrcFault("S45", "the field holds the Ethernet CRC of the frame"),
    IcrcFault("S46", "the field is always zero"),
    IcrcFault("S47", "the field is always ones"),
    IcrcFault("S48", "the masks lie at the IPv4 offsets on IPv6, too", "IPv6"),
    IcrcFault("S49", "byte 8 instead of byte 7 of IPv6 is masked", "IPv6"),
    IcrcFault("S50", "PadCnt is masked", "a PadCnt below 3"),
    IcrcFault("S51", "MigReq is masked", "MigReq 0"),
    IcrcFault("S52", "the UDP source port is masked"),
)
_DYNAMIC = (
    IcrcFault(
        "S53",
        "the field holds the ICRC of the packet before",
        "two packets",
        engines=(dynamic.SendsPrevious,),
    ),
    IcrcFault(
        "S54",
        "the register is not seeded again",
        "two packets",
        engines=(dynamic.KeepsRegister,),
    ),
    IcrcFault(
        "S55",
        "the ICRC is computed before a later stage edits the header",
        "packets in which that stage changes something",
        engines=(
            dynamic.SeesNoAckReq,
            dynamic.SeesPreviousId,
            dynamic.SeesPreviousPsn,
            dynamic.SeesPreviousUdpLength,
            dynamic.SeesNoPkey,
        ),
    ),
    IcrcFault(
        "S56",
        "the mask leaks to the wire",
        engines=(structural.LeaksMask, structural.LeaksHops, structural.LeaksBthByte),
    ),
    IcrcFault(
        "S57",
        "the byte count of the last beat is decoded wrongly for one residue",
        _BUS,
        engines=(
            dynamic.DropsTailByte,
            dynamic.DropsTailByteOf16,
            dynamic.DropsTailByteOf32,
            dynamic.DropsTailByteOf64,
        ),
    ),
    IcrcFault(
        "S58",
        "a byte lane is not connected to the CRC",
        "payloads that vary in that lane",
        engines=(dynamic.LosesLane, dynamic.LosesLaneOf64),
    ),
    IcrcFault(
        "S59",
        "back-pressure corrupts the CRC",
        "the same run with and without stalls; one capture cannot name the cause",
        engines=(dynamic.RepeatsStalledBeat,),
        runs=(False, True),
    ),
    IcrcFault(
        "S60",
        "parallel engines are mixed up",
        "packets of several queue pairs at the same time",
        engines=(structural.MixesEngines,),
    ),
    IcrcFault(
        "S61",
        "the mask window comes again in long packets",
        "payloads longer than the window's period",
        engines=(structural.MasksAgain, structural.MasksAgainEvery256),
    ),
    IcrcFault(
        "S62",
        "only LAST and ONLY carry an ICRC",
        "messages of several packets",
        engines=(structural.LacksIcrc, structural.LacksIcrcButCountsIt),
    ),
    IcrcFault(
        "S63",
        "the result is truncated or latched in part",
        "two packets",
        engines=(dynamic.LatchesHalf, dynamic.Truncates),
    ),
    IcrcFault(
        "S64",
        "the table for one length of the tail is wrong",
        _BUS,
        engines=(structural.MisplacesTail, structural.MisplacesTailOf64),
    ),
)

ICRC_FAULTS: dict[str, IcrcFault] = {row.id: row for row in (*_STATIC, *_DYNAMIC)}


class _Computes(Engine):
    """An engine with a static fault."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe

    def value(self, out: Outgoing) -> bytes:
        """By the recipe."""
        return self._recipe.compute(out.frame)


def spoil(
    faults: str | tuple[str, ...],
    frames: Iterable[TimedFrame],
    sent_by: SentBy,
    *,
    variant: int = 0,
    stalls: bool = False,
) -> list[TimedFrame]:
    """The capture with the fault, or several static ones, in the stations that `sent_by` picks."""
    return through(_engine(faults, variant), frames, sent_by, stalls=stalls)


def _engine(faults: str | tuple[str, ...], variant: int) -> Engine:
    ids = (faults,) if isinstance(faults, str) else faults
    unknown = [fault for fault in ids if fault not in ICRC_FAULTS]
    if unknown:
        raise FaultError(f"no ICRC fault is called {unknown[0]}; the ids are S01 to S64")
    rows = [ICRC_FAULTS[fault] for fault in ids]
    if len(rows) == 1 and not rows[0].is_static:
        return rows[0].engines[variant]()
    recipe = compose(*ids) if all(row.is_static for row in rows) else None
    if recipe is None:
        raise FaultError(f"{' and '.join(ids)} do not compose; ask `compose` for pairs that do")
    return _Computes(recipe)


def sent_from(*macs: bytes) -> SentBy:
    """Picks the frames that come from one of these stations."""
    return lambda frame: frame[6:12] in macs
