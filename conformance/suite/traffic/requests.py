# SPDX-License-Identifier: BSD-2-Clause
"""Valid requests of random kind, size and place, for fuzzing."""

from collections.abc import Callable

from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    CMP_SWAP,
    FETCH_ADD,
    READ_REQUEST,
    SEND_ONLY,
    SEND_ONLY_IMM,
    UD_SEND_ONLY,
    UD_SEND_ONLY_IMM,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
    opcode,
)
from roceproof.conformance.suite.traffic.fuzz_session import FuzzSession
from roceproof.conformance.wire.opcodes import OPCODES, Payload, Position
from roceproof.verbs.service import Service

_WORD = 64


def any_request(session: FuzzSession, *, psn: int = 0) -> Pattern:
    """A valid request of one packet."""
    kinds = _KINDS[session.qp.spec.service]
    return session.qp.filled(session.random.choice(kinds)(session).but(psn=psn, a=1))


def of_opcode(session: FuzzSession, value: int, *, psn: int = 0) -> Pattern:
    """A packet of any opcode, reserved ones and responses included, that is right in itself."""
    row = OPCODES.get(value)
    size = session.qp.mtu if row is not None and row.payload is Payload.FULL else 8
    payload = b"" if row is not None and row.payload is Payload.NONE else size
    more = session.qp.mtu if row is not None and row.position is Position.FIRST else 0
    packet = opcode(
        value, psn=psn, a=1, payload=payload, dmalen=size + more, **at(session.region, 64)
    )
    return session.qp.filled(packet)


def _send(session: FuzzSession) -> Pattern:
    return SEND_ONLY(payload=session.random.randrange(session.qp.mtu + 1))


def _send_immediate(session: FuzzSession) -> Pattern:
    imm = session.random.getrandbits(32)
    return SEND_ONLY_IMM(payload=session.random.randrange(session.qp.mtu + 1), imm=imm)


def _place(session: FuzzSession, length: int) -> dict[str, int]:
    return at(session.region, session.random.randrange(session.fence_at - length))


def _write(session: FuzzSession) -> Pattern:
    length = session.random.randrange(session.qp.mtu + 1)
    return WRITE_ONLY(payload=length, **_place(session, length))


def _write_immediate(session: FuzzSession) -> Pattern:
    length = session.random.randrange(session.qp.mtu + 1)
    imm = session.random.getrandbits(32)
    return WRITE_ONLY_IMM(payload=length, imm=imm, **_place(session, length))


def _read(session: FuzzSession) -> Pattern:
    length = session.random.randrange(3 * session.qp.mtu)
    return READ_REQUEST(dmalen=length, **_place(session, length))


def _atomic(session: FuzzSession) -> Pattern:
    operation = session.random.choice([CMP_SWAP, FETCH_ADD])
    words = [session.random.choice([0, 1, session.random.getrandbits(_WORD)]) for _ in range(2)]
    offset = session.random.randrange(session.fence_at // 8) * 8
    return operation(swap=words[0], compare=words[1], **at(session.region, offset))


def _datagram(session: FuzzSession) -> Pattern:
    return UD_SEND_ONLY(payload=session.random.randrange(session.qp.mtu + 1))


def _datagram_immediate(session: FuzzSession) -> Pattern:
    imm = session.random.getrandbits(32)
    return UD_SEND_ONLY_IMM(payload=session.random.randrange(session.qp.mtu + 1), imm=imm)


_CONNECTED: list[Callable[[FuzzSession], Pattern]] = [
    _send,
    _send_immediate,
    _write,
    _write_immediate,
]
_KINDS: dict[Service, list[Callable[[FuzzSession], Pattern]]] = {
    Service.RC: [*_CONNECTED, _read, _atomic],
    Service.UC: _CONNECTED,
    Service.UD: [_datagram, _datagram_immediate],
}
