# SPDX-License-Identifier: BSD-2-Clause
"""A peer that hears nothing: its questions without an answer, and what the device did, are told."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import Flow
from roceproof.conformance.capture.record import Record
from roceproof.conformance.demo.meeting import root_cause
from roceproof.dpi.session.streams import Signals, Stream
from roceproof.rxe_env.errors import AgentError

OWN, PEER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
MAC = bytes.fromhex("020000000001")


def arp(operation: int, sender: bytes, target: bytes) -> bytes:
    head = b"\xff" * 6 + MAC + b"\x08\x06" + bytes.fromhex("000108000604")
    return head + operation.to_bytes(2, "big") + MAC + sender + bytes(6) + target + bytes(18)


TAGGED = b"\xff" * 6 + MAC + b"\x81\x00\x00\x05\x08\x00" + bytes(90)
ASKS, ANSWERS = arp(1, PEER, OWN), arp(2, OWN, PEER)
TO, FROM = Flow.INBOUND, Flow.OUTBOUND


def told(folder: Path, *frames: tuple[Flow, bytes], number: int = errno.ETIMEDOUT) -> str:
    """What is told of a peer's call that ended with this error, behind these frames."""
    capture = folder / "capture.pcapng"
    records = [Record("port0", 1000 * n, flow, frame) for n, (flow, frame) in enumerate(frames, 1)]
    write_pcapng(capture, records)
    idle = Stream(beats=3, moved=8, signals=Signals(0))
    now = SimpleNamespace(cycle=9, ports=[SimpleNamespace(streams=[idle] * 6)])
    simulation: Any = SimpleNamespace(statistics=lambda: now)
    peer: Any = None
    with pytest.raises(AgentError) as caught, root_cause(simulation, peer, capture):
        raise AgentError("modify_qp", "Connection timed out", number)
    return str(caught.value)


def test_questions_without_an_answer_are_told_with_what_came_before(tmp_path: Path) -> None:
    text = told(tmp_path, (TO, ASKS), (FROM, ANSWERS), (TO, TAGGED), (TO, ASKS), (TO, ASKS))
    first, *lines = text.splitlines()
    assert first == "modify_qp: Connection timed out"
    assert lines[0] == "unanswered: 2 ARP requests for 10.0.0.1, the first at 4.000 us"
    assert lines[1:5] == [
        "before it:",
        "  received at 1.000 us, 60 bytes, ARP",
        "  sent at 2.000 us, 60 bytes, ARP",
        "  received at 3.000 us, 108 bytes, IPv4 without RoCEv2 behind a VLAN tag",
    ]
    assert lines[5] == "the device last sent at 2.000 us, 60 bytes, ARP"
    assert lines[6] == "streams in cycle 9:"


def test_where_all_was_answered_and_where_nothing_was_sent_that_is_told(tmp_path: Path) -> None:
    assert "every ARP request was answered" in told(tmp_path, (TO, ASKS), (FROM, ANSWERS))
    assert "the device sent nothing" in told(tmp_path, (TO, ASKS))
    assert told(tmp_path, (TO, ASKS), number=errno.EINVAL) == "modify_qp: Connection timed out"
