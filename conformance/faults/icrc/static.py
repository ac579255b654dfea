# SPDX-License-Identifier: BSD-2-Clause
"""The misimplementations of the ICRC that show in a single packet.

Each row says only what it gets wrong; everything else is the right recipe. Two
rows compose where both mistakes can live in one design and neither hides the
other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from roceproof.conformance.faults.icrc import stale_header as early
from roceproof.conformance.faults.icrc.crc import Crc
from roceproof.conformance.faults.icrc.fields import MASKED, Field
from roceproof.conformance.faults.icrc.recipe import Beat, Edit, Part, Prefix, Recipe, Start

_RIGHT = Recipe()


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """What one misimplementation changes in the recipe; None leaves an ingredient alone."""

    unmasked: frozenset[Field] = frozenset()
    also_masked: frozenset[Field] = frozenset()
    left_out: frozenset[Part] = frozenset()
    also_fed: frozenset[Part] = frozenset()
    edits: tuple[Edit, ...] = ()
    fill: int | None = None
    ipv4_offsets: bool | None = None
    prefix: Prefix | None = None
    start: Start | None = None
    slot: bytes | None = None
    beat: Beat | None = None
    swap_words: bool | None = None
    init: int | None = None
    final_xor: int | None = None
    reflected: bool | None = None
    castagnoli: bool | None = None
    reflect_result: bool | None = None
    order: tuple[int, ...] | None = None
    constant: bytes | None = None
    whole_frame: bool | None = None

    def recipe(self) -> Recipe:
        """The right recipe with these changes."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        chosen = {name: value for name, value in named.items() if value is not None}
        crc = {f.name: chosen[f.name] for f in fields(Crc) if f.name in chosen}
        plain = {f.name: chosen[f.name] for f in fields(Recipe) if f.name in chosen}
        return replace(
            _RIGHT,
            **plain,
            crc=Crc(**crc),
            masked=MASKED - self.unmasked | self.also_masked,
            parts=_RIGHT.parts - self.left_out | self.also_fed,
        )

    def merged(self, other: Slip) -> Slip | None:
        """Both sets of changes, or None where they are about the same ingredient."""
        values = {}
        for name in (f.name for f in fields(self)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, frozenset):
                values[name] = mine | theirs
            elif isinstance(mine, tuple) and name == "edits":
                values[name] = mine + theirs
            elif mine is not None and theirs is not None:
                return None
            else:
                values[name] = theirs if mine is None else mine
        return Slip(**values)


def _unmasks(*kept: Field) -> Slip:
    return Slip(unmasked=frozenset(kept))


def _masks(*more: Field, instead_of: Iterable[Field] = ()) -> Slip:
    return Slip(also_masked=frozenset(more), unmasked=frozenset(instead_of))


_F = Field
_BTH_BYTE_4 = (_F.CONGESTION, _F.RESERVED_6)

# fmt: off
SLIPS: dict[str, Slip] = {
    "S01": _unmasks(_F.TTL, _F.HOP_LIMIT),
    "S02": _unmasks(_F.TOS, _F.TRAFFIC_CLASS),
    "S03": _unmasks(_F.IPV4_CHECKSUM),
    "S04": _unmasks(_F.UDP_CHECKSUM),
    "S05": _unmasks(*_BTH_BYTE_4),
    "S06": _unmasks(*MASKED),
    "S07": Slip(fill=0),
    "S08": _unmasks(_F.RESERVED_6),
    "S09": _masks(_F.RESERVED_7_AND_ACK_REQ, instead_of=_BTH_BYTE_4),
    "S10": _unmasks(_F.FLOW_LABEL),
    "S11": Slip(prefix=Prefix.NOTHING),
    "S12": Slip(prefix=Prefix.ZEROS),
    "S13": Slip(prefix=Prefix.FOUR_ONES),
    "S14": Slip(prefix=Prefix.ETHERNET),
    "S15": Slip(prefix=Prefix.ONES_AND_ETHERNET),
    "S16": Slip(start=Start.VLAN),
    "S17": Slip(start=Start.UDP),
    "S18": Slip(start=Start.BTH),
    "S19": Slip(init=0),
    "S20": Slip(final_xor=0),
    "S21": Slip(init=0, final_xor=0),
    "S22": Slip(init=0xDEBB20E3),
    "S23": Slip(reflected=False, order=(3, 2, 1, 0)),
    "S24": Slip(reflected=False),
    "S25": Slip(reflect_result=True, order=(3, 2, 1, 0)),
    "S26": Slip(order=(3, 2, 1, 0)),
    "S27": Slip(reflect_result=True, order=(3, 2, 1, 0)),
    "S28": Slip(order=(2, 3, 0, 1)),
    "S29": Slip(castagnoli=True),
    "S30": Slip(also_fed=frozenset({Part.ETHERNET_PAD})),
    "S31": Slip(left_out=frozenset({Part.PAD})),
    "S32": Slip(edits=(early.lengths_without_icrc,)),
    "S33": Slip(edits=(early.lengths_zero,)),
    "S34": Slip(edits=(early.ipv4_id_zero,)),
    "S35": _masks(_F.FRAGMENT),
    "S36": Slip(slot=bytes(4)),
    "S37": Slip(slot=b"\xff" * 4),
    "S38": Slip(beat=Beat.PADDED_TO_8),
    "S39": Slip(beat=Beat.PADDED_TO_64),
    "S40": Slip(beat=Beat.DROPPED_OF_8),
    "S41": Slip(left_out=frozenset({Part.EXTENSIONS})),
    "S42": Slip(left_out=frozenset({Part.PAYLOAD, Part.PAD})),
    "S43": Slip(swap_words=True),
    "S44": Slip(edits=(early.psn_incremented,)),
    "S45": Slip(whole_frame=True),
    "S46": Slip(constant=bytes(4)),
    "S47": Slip(constant=b"\xff" * 4),
    "S48": Slip(ipv4_offsets=True),
    "S49": _masks(_F.IPV6_FIRST_SOURCE_BYTE, instead_of=(_F.HOP_LIMIT,)),
    "S50": _masks(_F.PAD_COUNT),
    "S51": _masks(_F.MIG_REQ),
    "S52": _masks(_F.SOURCE_PORT),
}
# fmt: on
_REPLACE_EVERYTHING = frozenset({"S45", "S46", "S47"})


def recipe(fault: str) -> Recipe:
    """How a transmitter with that fault computes its ICRC."""
    return SLIPS[fault].recipe()


def compose(*faults: str) -> Recipe | None:
    """All the faults in one design; None where they exclude or swallow each other."""
    if len(set(faults)) > 1 and _REPLACE_EVERYTHING & set(faults):
        return None
    merged: Slip | None = Slip()
    for fault in faults:
        merged = merged.merged(SLIPS[fault]) if merged else None
    if merged is None or merged.unmasked & merged.also_masked or _breaks_words(merged):
        return None
    both = merged.recipe()
    partial = [compose(*(f for f in faults if f != left)) for left in faults if len(faults) > 1]
    return None if both in partial or both == _RIGHT else both


def _breaks_words(slip: Slip) -> bool:
    """Whether words are swapped though what is fed does not divide into words."""
    uneven = slip.beat or slip.prefix in (Prefix.ETHERNET, Prefix.ONES_AND_ETHERNET)
    return bool(slip.swap_words and (uneven or slip.whole_frame))
