# SPDX-License-Identifier: BSD-2-Clause
"""The sending side of the demonstration, between a device and a receiver that are a few lines each.

The device writes into the receiver's memory; some operations it refuses.
"""

from __future__ import annotations

import hashlib
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.demo.deadline import due_completion, told_last_frames
from roceproof.conformance.demo.plan import Connection, Message
from roceproof.conformance.demo.sender import Sender
from roceproof.dpi import (
    Completion,
    Operation,
    PathMtu,
    QpConfig,
    Service,
    SimulationTimeout,
    Status,
    TimedCompletion,
    load_manifest,
)
from roceproof.dpi.session.deadline import Overdue
from roceproof.dpi.session.streams import Signals, Stream

SEND, SEND_IMM, WRITE_IMM = Operation.SEND, Operation.SEND_IMM, Operation.WRITE_IMM
REFERENCE = load_manifest(REFERENCE_DUT)
STILL = (Stream(0, 0, Signals(0)),) * 6


class Receiver:
    """As much of a peer as the demonstration asks for."""

    mac, ipv4 = "02:00:00:00:00:02", "10.0.0.2"

    def __init__(self) -> None:
        self.memory = bytearray(4096)
        self.receives: deque[tuple[int, int]] = deque()
        self.completed: deque[Any] = deque()

    def reg_mr(self, size: int, *, access: object) -> Any:
        return SimpleNamespace(addr=0, rkey=1, handle=1)

    def open_qp(self, service: str, *, depth: int, access: object) -> Any:
        return SimpleNamespace(qpn=7, handle=1)

    def connect(self, queue: object, **_: object) -> None:
        """Nothing has to be agreed on."""

    def call(self, op: str, **of: Any) -> dict[str, Any]:
        assert op == "fill"
        self.memory[: of["length"]] = bytes([of["byte"]]) * of["length"]
        return {}

    def post_recv(self, queue: object, region: object, **of: int) -> None:
        self.receives.append((of["offset"], of["length"]))

    def poll(self, queue: object, *, wait: float) -> list[Any]:
        return [self.completed.popleft()] if self.completed else []

    def sha256(self, region: object, *, offset: int, length: int) -> str:
        return hashlib.sha256(self.memory[offset : offset + length]).hexdigest()

    def arrives(self, request: Any, payload: bytes) -> None:
        offset, room = self.receives.popleft()
        assert room >= len(payload)
        to = request.remote_addr if request.operation is WRITE_IMM else offset
        self.memory[to : to + len(payload)] = payload
        is_imm = request.operation is not SEND
        self.completed.append(
            SimpleNamespace(
                status="success",
                imm=request.immediate if is_imm else None,
                byte_len=len(payload),
            )
        )


class Device:
    """A simulation whose device refuses some operations, or says nothing of them."""

    log = Path("simulation.log")

    def __init__(self, receiver: Receiver, answers: dict[Operation, Status | None]) -> None:
        self._receiver, self._answers = receiver, answers
        self._completed: list[TimedCompletion] = []
        self._cycle = 0

    def port(self, index: int) -> Device:
        return self

    def configure(self, config: QpConfig) -> None:
        """Nothing of it matters."""

    def post(self, request: Any, *, payload: bytes) -> None:
        status = self._answers.get(request.operation, Status.SUCCESS)
        if status is Status.SUCCESS:
            self._receiver.arrives(request, payload)
        if status is not None:
            done = Completion(wr_id=request.wr_id, qpn=request.qpn, status=status, syndrome=0xFF)
            self._completed.append(TimedCompletion(1, done))

    def take_completions(self) -> list[TimedCompletion]:
        taken, self._completed = self._completed, []
        return taken

    def wait(self, until: Any, *, timeout: float) -> None:
        if not until():
            raise SimulationTimeout("not yet")

    def statistics(self) -> Any:
        self._cycle += 10_000
        return SimpleNamespace(
            cycle=self._cycle, ports=[SimpleNamespace(frames_out=0, streams=STILL)]
        )


def sent(answers: dict[Operation, Status | None], *operations: Operation) -> tuple[list[Any], Any]:
    """What came of messages of growing length, and what was reported."""
    receiver = Receiver()
    told: list[str] = []
    sender = Sender(
        Device(receiver, answers),  # type: ignore[arg-type]
        receiver,  # type: ignore[arg-type]
        device=REFERENCE,
        data_width=64,
        capture=Path("nowhere.pcapng"),
        report=told.append,
    )
    messages = tuple(
        Message(
            operation=each, payload=bytes([n]) * (40 * n), immediate=None if each is SEND else n
        )
        for n, each in enumerate(operations)
    )
    connection = Connection(
        service=Service.RC, path_mtu=PathMtu.MTU_1024, start_psn=100, messages=messages
    )
    return list(sender.send_all(connection)), told


@pytest.mark.parametrize("status", [Status.LOC_QP_OP_ERR, Status.LOC_LEN_ERR])
def test_what_is_refused_uses_no_psn_and_leaves_its_receive_to_the_next(status: Status) -> None:
    operations = (SEND, SEND_IMM, SEND, WRITE_IMM, SEND, SEND_IMM)
    results, told = sent({SEND: status}, *operations)
    assert [result.ok for result in results] == [each is not SEND for each in operations]
    assert [result.start_psn for result in results] == [100, 100, 101, 101, 102, 102]
    assert told == [f"RC SEND of 0 bytes did not land: completed {status.name}"]


def test_behind_any_other_error_nothing_more_is_sent() -> None:
    results, told = sent({SEND: Status.RETRY_EXC_ERR}, SEND_IMM, SEND, SEND_IMM)
    assert [result.ok for result in results] == [True, False, False]
    assert told == ["RC SEND of 40 bytes did not land: completed RETRY_EXC_ERR"]


def test_what_never_completes_is_told_by_cycles_streams_and_frames() -> None:
    with pytest.raises(Overdue) as caught:
        sent({SEND: None}, SEND)
    head, *lines = str(caught.value).splitlines()
    assert head.startswith("no completion of a RC SEND of 0 bytes in 21,0")
    assert "4 times an ACK timeout of 5,242,880 cycles, and 100,000 to answer" in head
    assert lines[0].startswith("streams in cycle") and lines[-1] == "no frame was seen"


def test_a_message_is_due_by_the_device_and_not_by_the_simulator() -> None:
    def cycles(service: Service, **values: int) -> int:
        config = QpConfig(local_qpn=1, service=service, **values)
        due = due_completion(config, REFERENCE, clock_ps=6400, what="it", packets=1)
        return due.cycles

    assert cycles(Service.UC, ack_timeout=20) == 100_000
    assert cycles(Service.RC, ack_timeout=13) == 100_000 + 4 * 5_242_880
    assert cycles(Service.RC, ack_timeout=14) == 100_000 + 8 * 5_242_880
    assert cycles(Service.RC) == cycles(Service.RC, ack_timeout=13)  # somebody answers all the same


def test_no_capture_has_no_last_frames(tmp_path: Path) -> None:
    assert told_last_frames(tmp_path / "none.pcapng") == "no frame was seen"
