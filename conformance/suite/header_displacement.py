# SPDX-License-Identifier: BSD-2-Clause
"""A packet that has a header which its opcode has not, or lacks one: what follows is displaced.

Read by its opcode, such a packet has wrong numbers and a payload of another length; all of that is
one field here.
"""

from collections.abc import Iterable

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.headers import Aeth, Extension, ImmDt, Reth
from roceproof.conformance.wire.opcodes import OPCODES

_NAMES: dict[type[Extension], str] = {Reth: "reth", ImmDt: "immediate", Aeth: "aeth"}
SURPLUS, MISSING = "surplus {}", "missing {}"
DISPLACING = {
    SURPLUS.format("reth"): "a RETH stands where the opcode has none",
    MISSING.format("reth"): "the RETH of the opcode is missing",
    SURPLUS.format("immediate"): "immediate data stand where the opcode has none",
    MISSING.format("immediate"): "the immediate data of the opcode are missing",
    SURPLUS.format("aeth"): "an AETH stands where the opcode has none",
    MISSING.format("aeth"): "the AETH of the opcode is missing",
}
"""The headers that are looked for, in words."""
LONGEST = max(kind.FORMAT.size for kind in _NAMES)
"""Bytes of the longest header that displaces others."""
_FEWEST = 4
"""Bytes that are at their place with the header, and not without it."""
DISPLACED = frozenset({"va", "rkey", "dmalen", "imm", "syndrome", "msn", "payload"})
"""What is read from another place where there is a header more or less."""


def displacing_header(
    pattern: Pattern, packet: Packet, flow: FlowCodec, in_front: bytes
) -> str | None:
    """The header that is there and ought not, or the other way round; one of `DISPLACING`.

    `in_front` are the bytes of the message in front of the packet's, as many as are known.
    """
    row = OPCODES.get(packet.bth.opcode)
    if row is None or flow.opcode_of(pattern) != row.value:
        return None
    if not isinstance(pattern.said.get("payload"), bytes):
        return None
    aeth = {each: 0 for each in ("syndrome", "msn") if row.is_response and each in pattern.said}
    decided = pattern.but(**aeth)
    if any(isinstance(value, range | frozenset) for value in decided.said.values()):
        return None
    right = parse(flow.build(decided))
    if right is None:
        return None
    want, got = _behind_bth(right), _behind_bth(packet)
    if len(want) == len(got):
        return None
    for kind, name in _NAMES.items():
        if row.is_response != (kind is Aeth):
            continue
        size = kind.FORMAT.size
        if kind in row.headers:
            place = sum(each.FORMAT.size for each in row.headers[: row.headers.index(kind)])
            without = want[:place] + want[place + size :]
            if _fits(got, without, want) or (got == without and not right.payload):
                return MISSING.format(name)
        elif not in_front.endswith(packet.payload[:size]) and any(
            _fits(got[:place] + got[place + size :], want, got[: len(want)])
            for place in _places(row.headers)
        ):
            return SURPLUS.format(name)
    return None


def _places(headers: Iterable[type[Extension]]) -> list[int]:
    """Where a header may stand among these."""
    found = [0]
    for each in headers:
        found.append(found[-1] + each.FORMAT.size)
    return found


def _fits(one: bytes, other: bytes, without: bytes) -> bool:
    return one == other and len(one) >= _FEWEST and one != without


def _behind_bth(packet: Packet) -> bytes:
    return b"".join(header.pack() for header in packet.extensions) + packet.payload
