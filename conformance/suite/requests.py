# SPDX-License-Identifier: BSD-2-Clause
"""Valid requests of random kind, size and place, for fuzzing."""

from __future__ import annotations

from collections.abc import Callable

from roceproof.conformance.suite.fuzz_session import FENCE_AT, Trial
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
from roceproof.conformance.wire.opcodes import OPCODES, Payload, Position
from roceproof.verbs.service import Service

_WORD = 64


def any_request(trial: Trial, *, psn: int = 0, a: int = 1) -> Pattern:
    """A valid request of one packet."""
    kinds = _KINDS[trial.qp.spec.service]
    return trial.qp.filled(trial.random.choice(kinds)(trial).but(psn=psn, a=a))


def of_opcode(trial: Trial, value: int, *, psn: int = 0) -> Pattern:
    """A packet of any opcode, reserved ones and responses included, that is right in itself."""
    row = OPCODES.get(value)
    size = trial.qp.mtu if row is not None and row.payload is Payload.FULL else 8
    payload = b"" if row is not None and row.payload is Payload.NONE else size
    more = trial.qp.mtu if row is not None and row.position is Position.FIRST else 0
    packet = opcode(
        value, psn=psn, a=1, payload=payload, dmalen=size + more, **at(trial.region, 64)
    )
    return trial.qp.filled(packet)


def _send(trial: Trial) -> Pattern:
    return SEND_ONLY(payload=trial.random.randrange(trial.qp.mtu + 1))


def _send_immediate(trial: Trial) -> Pattern:
    imm = trial.random.getrandbits(32)
    return SEND_ONLY_IMM(payload=trial.random.randrange(trial.qp.mtu + 1), imm=imm)


def _place(trial: Trial, length: int) -> dict[str, int]:
    return at(trial.region, trial.random.randrange(FENCE_AT - length))


def _write(trial: Trial) -> Pattern:
    length = trial.random.randrange(trial.qp.mtu + 1)
    return WRITE_ONLY(payload=length, **_place(trial, length))


def _write_immediate(trial: Trial) -> Pattern:
    length = trial.random.randrange(trial.qp.mtu + 1)
    imm = trial.random.getrandbits(32)
    return WRITE_ONLY_IMM(payload=length, imm=imm, **_place(trial, length))


def _read(trial: Trial) -> Pattern:
    length = trial.random.randrange(3 * trial.qp.mtu)
    return READ_REQUEST(dmalen=length, **_place(trial, length))


def _atomic(trial: Trial) -> Pattern:
    operation = trial.random.choice([CMP_SWAP, FETCH_ADD])
    words = [trial.random.choice([0, 1, trial.random.getrandbits(_WORD)]) for _ in range(2)]
    offset = trial.random.randrange(FENCE_AT // 8) * 8
    return operation(swap=words[0], compare=words[1], **at(trial.region, offset))


def _datagram(trial: Trial) -> Pattern:
    return UD_SEND_ONLY(payload=trial.random.randrange(trial.qp.mtu + 1))


def _datagram_immediate(trial: Trial) -> Pattern:
    imm = trial.random.getrandbits(32)
    return UD_SEND_ONLY_IMM(payload=trial.random.randrange(trial.qp.mtu + 1), imm=imm)


_CONNECTED: list[Callable[[Trial], Pattern]] = [_send, _send_immediate, _write, _write_immediate]
_KINDS: dict[Service, list[Callable[[Trial], Pattern]]] = {
    Service.RC: [*_CONNECTED, _read, _atomic],
    Service.UC: _CONNECTED,
    Service.UD: [_datagram, _datagram_immediate],
}
