# SPDX-License-Identifier: BSD-2-Clause
"""One port of a running simulation: what goes in, and what has come out."""

from __future__ import annotations

from typing import Protocol

from roceproof.dpi.events import Frame, Taken, TimedCompletion
from roceproof.dpi.options import Flow
from roceproof.dpi.payload import PatternPayload
from roceproof.dpi.records import QpConfig, WorkRequest
from roceproof.dpi.wire import MessageType

FRAME_MAX = 9216


class Send(Protocol):
    """Sends one message to the simulation."""

    def __call__(self, kind: MessageType, *parts: bytes) -> None: ...  # noqa: D102


class Port:
    """Everything sent here takes effect when the simulation next runs."""

    def __init__(self, index: int, send: Send):
        self._index = bytes((index,))
        self._send = send
        self._frames: list[Frame] = []
        self._completions: list[TimedCompletion] = []
        self._taken: list[Taken] = []

    def configure(self, config: QpConfig) -> None:
        """Configure a QP. Work requests posted later wait until the device has taken it.

        A configuration may overtake work requests posted before it: wait for their completions.
        """
        self._send(MessageType.QPC, self._index, config.pack())

    def post(self, request: WorkRequest, *, payload: bytes | PatternPayload = b"") -> None:
        """Post a work request with its payload, whose length may differ from the request's."""
        pattern = isinstance(payload, PatternPayload)
        seed, length, data = (
            (payload.seed, payload.length, b"")
            if isinstance(payload, PatternPayload)
            else (0, len(payload), payload)
        )
        self._send(
            MessageType.WORK_REQUEST,
            self._index,
            bytes((pattern,)),
            request.payload_offset.to_bytes(2, "little"),
            length.to_bytes(8, "little"),
            (seed % 2**64).to_bytes(8, "little"),
            request.pack(),
            data,
        )

    def inject(self, frame: bytes, *, discard: bool = False) -> None:
        """Queue a frame for the device to receive; `discard` marks it bad at its end."""
        if not 1 <= len(frame) <= FRAME_MAX:
            raise ValueError(f"frame of {len(frame)} bytes, expected 1..{FRAME_MAX}")
        self._send(MessageType.FRAME, self._index, bytes((discard,)), frame)

    def flow(self, flow: Flow) -> None:
        """Change the disturbance of the port's streams from now on."""
        self._send(MessageType.FLOW, self._index, flow.pack())

    def take_frames(self) -> list[Frame]:
        """The frames sent since the last call, in order."""
        taken, self._frames = self._frames, []
        return taken

    def take_completions(self) -> list[TimedCompletion]:
        """The completions since the last call, in order."""
        taken, self._completions = self._completions, []
        return taken

    def take_taken(self) -> list[Taken]:
        """What the device has taken since the last call, in order; in lockstep only."""
        taken, self._taken = self._taken, []
        return taken

    def add_frame(self, frame: Frame) -> None:
        """For the simulation: a frame has come."""
        self._frames.append(frame)

    def add_completion(self, completion: TimedCompletion) -> None:
        """For the simulation: a completion has come."""
        self._completions.append(completion)

    def add_taken(self, taken: Taken) -> None:
        """For the simulation: the device has taken something."""
        self._taken.append(taken)
