# SPDX-License-Identifier: BSD-2-Clause
"""ICRC units with one stage wired wrongly: S01 to S52, without a memory of other packets."""

from collections.abc import Callable
from random import Random
from struct import pack, unpack
from zlib import crc32

from roceproof.conformance.faults.icrc.packet import Packet
from roceproof.conformance.faults.icrc.unit import IcrcUnit, Mask, View
from roceproof.conformance.wire.psn import PSN_MODULUS

Wiring = Callable[[IcrcUnit, Random], None]
"""What a fault does to a healthy unit; what the standard leaves open is drawn."""

_CHECKSUM = (("ip", 10), ("ip", 11))


def _bare(v4: tuple[int, ...], v6: tuple[tuple[int, int], ...]) -> Wiring:
    """Bytes of the IP header that are not masked; of IPv6 with their bits."""

    def change(view: View, mask: dict[tuple[str, int], int]) -> None:
        if view.is_ipv4:
            for at in v4:
                mask.pop(("ip", at), None)
        else:
            for at, bits in v6:
                mask["ip", at] = mask.get(("ip", at), 0) & ~bits

    return lambda unit, random: unit.masks.append(change)


def _masked(change: Mask) -> Wiring:
    return lambda unit, random: unit.masks.append(change)


def _edited(change: Callable[[View], None]) -> Wiring:
    return lambda unit, random: unit.edits.append(change)


def _set(**values: object) -> Wiring:
    def wire(unit: IcrcUnit, random: Random) -> None:
        for name, value in values.items():
            setattr(unit, name, value)

    return wire


def _without(*names: str) -> Wiring:
    def wire(unit: IcrcUnit, random: Random) -> None:
        unit.covers = tuple(name for name in unit.covers if name not in names)

    return wire


def _udp_bare(view: View, mask: dict[tuple[str, int], int]) -> None:
    mask.pop(("udp", 6), None)
    mask.pop(("udp", 7), None)


def _bth4_bare(view: View, mask: dict[tuple[str, int], int]) -> None:
    mask.pop(("bth", 4), None)


def _nothing_masked(view: View, mask: dict[tuple[str, int], int]) -> None:
    mask.clear()


def _congestion_only(view: View, mask: dict[tuple[str, int], int]) -> None:
    mask["bth", 4] = 0xC0


def _byte_8_instead(view: View, mask: dict[tuple[str, int], int]) -> None:
    mask.pop(("bth", 4), None)
    mask["bth", 8] = 255


def _v4_mask_on_v6(view: View, mask: dict[tuple[str, int], int]) -> None:
    if not view.is_ipv4:
        for key in [key for key in mask if key[0] == "ip"]:
            del mask[key]
        mask.update({("ip", at): 255 for at in (1, 8, 10, 11)})


def _v4_offsets(view: View, mask: dict[tuple[str, int], int]) -> None:
    """All masks, those of UDP and BTH too, lie where they lie in IPv4."""
    if not view.is_ipv4:
        mask.clear()
        mask.update({("ip", at): 255 for at in (1, 8, 10, 11, 26, 27, 32)})


def _byte_8_for_hops(view: View, mask: dict[tuple[str, int], int]) -> None:
    if not view.is_ipv4:
        mask.pop(("ip", 7), None)
        mask["ip", 8] = 255


def _fragment(view: View, mask: dict[tuple[str, int], int]) -> None:
    if view.is_ipv4:
        mask["ip", 6] = mask["ip", 7] = 255


def _bth_1_and(bits: int) -> Mask:
    def change(view: View, mask: dict[tuple[str, int], int]) -> None:
        mask["bth", 1] = mask.get(("bth", 1), 0) | bits

    return change


def _source_port(view: View, mask: dict[tuple[str, int], int]) -> None:
    mask["udp", 0] = mask["udp", 1] = 255


def _tag_in_front(view: View) -> None:
    view.front = view.packet.tag


def _ethernet_in_front(view: View) -> None:
    view.front = view.packet.in_front


def _shorter(view: View) -> None:
    udp = unpack(">H", view.udp[4:6])[0] - 4
    _lengths(view, udp)


def _no_lengths(view: View) -> None:
    view.udp[4:6] = bytes(2)
    at = 2 if view.is_ipv4 else 4
    view.ip[at : at + 2] = bytes(2)


def _lengths(view: View, udp: int) -> None:
    """Adders of 16 bits, whatever another fault has left in the field."""
    view.udp[4:6] = pack(">H", udp & 0xFFFF)
    if view.is_ipv4:
        view.ip[2:4] = pack(">H", udp + 20 & 0xFFFF)
    else:
        view.ip[4:6] = pack(">H", udp & 0xFFFF)


def _no_ident(view: View) -> None:
    if view.is_ipv4:
        view.ip[4:6] = bytes(2)


def _next_psn(view: View) -> None:
    psn = int.from_bytes(view.bth[9:12], "big")
    view.bth[9:12] = ((psn + 1) % PSN_MODULUS).to_bytes(3, "big")


def _frame_pad(view: View) -> None:
    packet = view.packet
    size = len(packet.in_front + packet.ip + packet.udp + packet.bth + packet.behind_bth) + 4
    view.behind = bytes(max(0, 60 - size))


def _place(value: int) -> Callable[[View], None]:
    def change(view: View) -> None:
        view.behind += bytes((value,)) * 4

    return change


def _beats(choices: tuple[int, ...], *, drop: bool) -> Wiring:
    """The last beat of what is covered, counted from where the data path begins.

    That is the frame or its IP header, whatever of both enters the CRC.
    """

    def wire(unit: IcrcUnit, random: Random) -> None:
        width = random.choice(choices)
        from_frame = random.random() < 0.5

        def change(view: View, data: bytes) -> bytes:
            packet = view.packet
            size = sum(map(len, (packet.ip, packet.udp, packet.bth, packet.behind_bth)))
            size += len(packet.in_front) if from_frame else 0
            over = size % width
            if drop:
                return data[: len(data) - over]
            return data + bytes(-over % width)

        unit.tail.append(change)

    return wire


class _Constant(IcrcUnit):
    value = 0

    def compute(self, packet: Packet) -> bytes:
        return bytes((self.value,)) * 4


class _Ones(_Constant):
    value = 0xFF


class _FrameCheck(IcrcUnit):
    """The CRC of the Ethernet frame up to the field."""

    def compute(self, packet: Packet) -> bytes:
        whole = packet.in_front + packet.ip + packet.udp + packet.bth + packet.behind_bth
        return crc32(whole).to_bytes(4, "little")


# fmt: off
WIRINGS: dict[str, Wiring] = {
    "S01": _bare((8,), ((7, 255),)),
    "S02": _bare((1,), ((0, 15), (1, 0xF0))),
    "S03": _bare((10, 11), ()),
    "S04": _masked(_udp_bare),
    "S05": _masked(_bth4_bare),
    "S06": _masked(_nothing_masked),
    "S07": _set(fill=0),
    "S08": _masked(_congestion_only),
    "S09": _masked(_byte_8_instead),
    "S10": _bare((), ((1, 0x0F), (2, 255), (3, 255))),
    "S11": _set(prefix=b""),
    "S12": _set(prefix=bytes(8)),
    "S13": _set(prefix=b"\xff" * 4),
    "S14": _set(ethernet_first=True),
    "S15": _edited(_ethernet_in_front),
    "S16": _edited(_tag_in_front),
    "S17": _without("ip"),
    "S18": _without("ip", "udp"),
    "S19": _set(start=0),
    "S20": _set(final=0),
    "S21": _set(start=0, final=0),
    "S22": _set(start=0xDEBB20E3),
    "S23": _set(most_significant_first=True, order=(3, 2, 1, 0)),
    "S24": _set(most_significant_first=True),
    "S25": _set(bits_reversed=True),
    "S26": _set(order=(3, 2, 1, 0)),
    "S28": _set(order=(2, 3, 0, 1)),
    "S29": _set(castagnoli=True),
    "S30": _edited(_frame_pad),
    "S31": _without("pad"),
    "S32": _edited(_shorter),
    "S33": _edited(_no_lengths),
    "S34": _edited(_no_ident),
    "S35": _masked(_fragment),
    "S36": _edited(_place(0)),
    "S37": _edited(_place(255)),
    "S38": _beats((8,), drop=False),
    "S39": _beats((64,), drop=False),
    "S40": _beats((8, 16, 32), drop=True),
    "S41": _without("extension"),
    "S42": _without("payload", "pad"),
    "S43": _set(words_swapped=True),
    "S44": _edited(_next_psn),
    "S48": _masked(_v4_mask_on_v6),
    "S49": _masked(_byte_8_for_hops),
    "S50": _masked(_bth_1_and(0x30)),
    "S51": _masked(_bth_1_and(0x40)),
    "S52": _masked(_source_port),
}
# fmt: on
OFFSETS_OF_IPV4 = _masked(_v4_offsets)
"""Another design that S48 describes."""
UNITS: dict[str, type[IcrcUnit]] = {"S45": _FrameCheck, "S46": _Constant, "S47": _Ones}
"""Those that replace everything."""

ONE_FUNCTION = {"S25": {"S25", "S27"}}
"""Signatures that no traffic tells apart: either is the truth."""

CLASHES: tuple[frozenset[str], ...] = tuple(
    frozenset(names.split())
    for names in (
        "S11 S12 S13 S14",
        "S15 S16",
        "S17 S18 S01 S02 S03 S10 S34 S35 S48 S49",
        "S18 S04 S52",
        "S19 S21 S22",
        "S20 S21",
        "S23 S24 S25 S26 S28",
        "S23 S24 S29",
        "S30 S36 S37 S38 S39 S40 S43",
        "S43 S14 S15 S13",
        "S42 S31",
        "S05 S08 S09 S06 S07",
        "S01 S06 S07 S48 S49",
        "S32 S33",
    )
)
"""Faults of one stage: one of each at most is drawn for a device."""
