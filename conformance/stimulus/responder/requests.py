# SPDX-License-Identifier: BSD-2-Clause
"""One message of a plan as packets: what is right of it, and what is to be wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from roceproof.conformance.suite.pattern import (
    CMP_SWAP,
    FETCH_ADD,
    READ_REQUEST,
    SEND_FIRST,
    SEND_LAST,
    SEND_LAST_IMM,
    SEND_LAST_INV,
    SEND_MIDDLE,
    SEND_ONLY,
    SEND_ONLY_IMM,
    SEND_ONLY_INV,
    UD_SEND_ONLY,
    UD_SEND_ONLY_IMM,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Maker,
    Pattern,
)
from roceproof.verbs.work import Op, Region

_MAKERS: dict[Op, tuple[Maker, Maker, Maker, Maker]] = {
    Op.SEND: (SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY),
    Op.SEND_IMM: (SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMM, SEND_ONLY_IMM),
    Op.SEND_INV: (SEND_FIRST, SEND_MIDDLE, SEND_LAST_INV, SEND_ONLY_INV),
    Op.WRITE: (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY),
    Op.WRITE_IMM: (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM, WRITE_ONLY_IMM),
}
_WRITES = (Op.WRITE, Op.WRITE_IMM)
_ADDRESSES, _KEYS, _LENGTHS = 1 << 64, 1 << 32, 1 << 32


@dataclass(frozen=True, kw_only=True)
class Request:
    """A message to a region of the device, or to its next receive."""

    op: Op
    size: int
    region: int = 0
    offset: int = 0
    immediate: int = 0
    solicited: bool = False
    swap: int = 0
    compare: int = 0
    compare_mask: int = 0
    """Bits of it that are wrong, where it is equal but for them."""
    is_equal: bool = False
    """It compares with what is there as the request is made, whatever `compare` says."""
    ask: str = "last"
    """Which packets ask for an ACK: last, all, none."""
    skip: int = 0
    """So many PSNs are left out in front of it."""
    key_mask: int = 0
    """Bits of the key that are wrong; of a datagram, of its Q_Key."""
    kills: int = 0
    """Of the regions but the first, the one whose key a SEND with invalidate names."""
    kill_mask: int = 0
    """Bits of that key that are wrong."""
    shift: int = 0
    """Added to the address."""
    more: int = 0
    """Added to the length that the RETH says."""
    part: int = 0
    """Of the packets, the one that these concern:"""
    bytes: int | None = None
    """how many bytes it has,"""
    turned: str | None = None
    """whose packet it is instead."""
    lost: bool = False
    """it never comes,"""
    twice: bool = False
    """it comes twice,"""
    early: bool = False
    """it comes in front of the one before."""
    stops: bool = False
    """The requester goes on as if the message ended with it."""

    @property
    def is_plain(self) -> bool:
        """Whether a healthy requester sends it like that."""
        return replace(self, **_PLAIN) == self

    @property
    def names_a_key(self) -> bool:
        """Whether a key shall become invalid by it, whatever its packets are."""
        return Op.SEND_INV.name in (self.op.name, self.turned)

    def arranged(self, packets: Sequence[Pattern]) -> list[Pattern]:
        """The packets in the order in which they come."""
        order = list(packets)
        at = self.part % len(order)
        if self.stops:
            del order[at + 1 :]
        if self.early and at:
            order[at - 1 : at + 1] = [order[at], order[at - 1]]
        elif self.twice:
            order.insert(at, order[at])
        elif self.lost:
            del order[at]
        return order


_PLAIN: dict[str, Any] = {
    **{"skip": 0, "more": 0, "bytes": None, "turned": None},
    **dict.fromkeys(("lost", "twice", "early", "stops"), False),
}
"""What is wrong with no packet by itself."""


def packets_of(
    request: Request, region: Region, *, mtu: int, psn: int, data: bytes, dead: int = 0
) -> Iterator[Pattern]:
    """Its packets, the first of them at that PSN if none is left out; `dead` is a key to kill."""
    psn += request.skip
    where = {
        "va": (region.addr + request.offset + request.shift) % _ADDRESSES,
        "rkey": region.wrong_key(request.key_mask),
    }
    length = (request.size + request.more) % _LENGTHS
    if request.op is Op.READ:
        yield READ_REQUEST(psn=psn, a=int(request.ask != "none"), dmalen=length, **where)
    elif request.op in (Op.CMP_SWAP, Op.FETCH_ADD):
        maker = CMP_SWAP if request.op is Op.CMP_SWAP else FETCH_ADD
        yield maker(psn=psn, a=1, swap=request.swap, compare=request.compare, **where)
    else:
        where |= {"dmalen": length}
        yield from _with_data(request, where, mtu=mtu, psn=psn, data=data, dead=dead)


def _with_data(
    request: Request, where: dict[str, int], *, mtu: int, psn: int, data: bytes, dead: int
) -> Iterator[Pattern]:
    pieces = [data[at : at + mtu] for at in range(0, len(data), mtu)] or [b""]
    last = len(pieces) - 1
    for index, piece in enumerate(pieces):
        op, body = request.op, piece
        if index == request.part % len(pieces):
            op = request.op if request.turned is None else Op[request.turned]
            if request.bytes is not None:
                body = (piece + data)[: request.bytes].ljust(request.bytes, b"\xa5")
        first, middle, end, only = _MAKERS[op]
        maker = only if not last else {0: first, last: end}.get(index, middle)
        asks = request.ask == "all" or (request.ask == "last" and index == last)
        packet = maker(psn=psn + index, payload=body, a=int(asks))
        if index == 0:
            packet = packet.but(**where) if op in _WRITES else packet
        if index == last:
            solicited = request.solicited and op is not Op.WRITE
            packet = packet.but(imm=request.immediate, se=int(solicited), inv=dead)
        yield packet


def datagram_of(request: Request, *, psn: int, qkey: int, data: bytes) -> Pattern:
    """The one packet of a SEND to a queue pair that takes datagrams."""
    maker = UD_SEND_ONLY_IMM if request.op is Op.SEND_IMM else UD_SEND_ONLY
    packet = maker(psn=psn + request.skip, payload=data, qkey=qkey ^ request.key_mask)
    return packet.but(imm=request.immediate, se=int(request.solicited))


def compared(request: Request, region: Region) -> int:
    """The number that an atomic compares with; the device is little-endian, as its host is."""
    if not request.is_equal or not 0 <= request.offset <= region.size - 8:
        return request.compare
    there = int.from_bytes(region.read(request.offset, 8), "little")
    return there ^ request.compare_mask
