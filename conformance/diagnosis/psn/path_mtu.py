# SPDX-License-Identifier: BSD-2-Clause
"""The path MTU of a connection, where it is not configured: what its packets show of it."""

from collections import Counter
from collections.abc import Sequence

from roceproof.conformance.diagnosis.psn.timeline import PATH_MTUS, Reply, Sent, Side, behind
from roceproof.conformance.wire.opcodes import OPCODES, Payload


def learnt_mtu(side: Side, life: Sequence[Sent]) -> int | None:
    """The commonest size of packets that must be full, in either direction, in that time."""
    begin, end = life[0].number - 1, life[-1].number
    sizes = Counter(sent.size for sent in life if sent.row.payload is Payload.FULL)
    answers, others = side.answers, side.counterpart.requests if side.counterpart else []
    meanwhile: tuple[Sent | Reply, ...] = (
        *answers[behind(answers, begin) : behind(answers, end)],
        *others[behind(others, begin) : behind(others, end)],
    )
    sizes.update(each.size for each in meanwhile if _is_full(each))
    common = [size for size, _ in sizes.most_common() if size in PATH_MTUS]
    return common[0] if common else None


def _is_full(packet: Sent | Reply) -> bool:
    row = packet.row if isinstance(packet, Sent) else OPCODES[packet.opcode]
    return row.payload is Payload.FULL
