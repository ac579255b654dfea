# SPDX-License-Identifier: BSD-2-Clause
"""One port of a running simulation: what goes in, and what has come out."""

from typing import Protocol

from roceproof.dpi.contract.connection_records import ConnectionEvent
from roceproof.dpi.contract.receive_records import MemoryRegion, PostedReceive
from roceproof.dpi.contract.records import QpConfig, WorkRequest
from roceproof.dpi.session.events import Frame, Taken, TimedCompletion, TimedReceive
from roceproof.dpi.session.options import Flow
from roceproof.dpi.session.payload import PatternPayload
from roceproof.dpi.session.wire import MessageType

FRAME_MAX = 9216


class Send(Protocol):
    """Sends one message to the simulation."""

    def __call__(self, kind: MessageType, *parts: bytes) -> None: ...


class Port:
    """Everything sent here takes effect when the simulation next runs."""

    def __init__(self, index: int, send: Send):
        self._index = bytes((index,))
        self._send = send
        # What has come and was not taken; the simulation adds to it.
        self.frames: list[Frame] = []
        self.completions: list[TimedCompletion] = []
        self.taken: list[Taken] = []
        self.receives: list[TimedReceive] = []
        self.memory: list[bytes] = []
        self.connections: list[ConnectionEvent] = []

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

    def register(self, region: MemoryRegion) -> None:
        """Tell the device of a memory region, or that it shall forget it."""
        self._send(MessageType.REGION, self._index, region.pack())

    def post_receive(self, receive: PostedReceive) -> None:
        self._send(MessageType.RECEIVE, self._index, receive.pack())

    def poke(self, address: int, data: bytes) -> None:
        """Change bytes of the memory behind the device's memory ports."""
        self._send(MessageType.POKE, self._index, address.to_bytes(8, "little"), data)

    def ask_memory(self, address: int, length: int) -> None:
        """Ask for bytes of that memory: `Simulation.peek` waits for them."""
        place = address.to_bytes(8, "little") + length.to_bytes(4, "little")
        self._send(MessageType.PEEK, self._index, place)

    def inject(self, frame: bytes, *, discard: bool = False, early: bool = False) -> None:
        """Queue a frame for the device to receive; `discard` marks it bad at its end.

        `early` marks all beats but the last, which says nothing.
        """
        if not 1 <= len(frame) <= FRAME_MAX:
            raise ValueError(f"frame of {len(frame)} bytes, expected 1..{FRAME_MAX}")
        self._send(MessageType.FRAME, self._index, bytes((discard | early << 1,)), frame)

    def reset(self, *, cycles: int) -> None:
        """Reset the device for so many cycles; nothing that waits for it is kept but its memory."""
        self._send(MessageType.RESET, self._index, bytes((cycles,)))

    def flow(self, flow: Flow) -> None:
        """Change the disturbance of the port's streams from now on."""
        self._send(MessageType.FLOW, self._index, flow.pack())

    def take_frames(self) -> list[Frame]:
        """The frames sent since the last call, in order."""
        taken, self.frames = self.frames, []
        return taken

    def take_completions(self) -> list[TimedCompletion]:
        """The completions since the last call, in order."""
        taken, self.completions = self.completions, []
        return taken

    def take_taken(self) -> list[Taken]:
        """What the device has taken since the last call, in order; in lockstep only."""
        taken, self.taken = self.taken, []
        return taken

    def take_receives(self) -> list[TimedReceive]:
        """The completions of receives since the last call, in order."""
        taken, self.receives = self.receives, []
        return taken

    def take_memory(self) -> list[bytes]:
        """The answers to what was asked of memory since the last call."""
        taken, self.memory = self.memory, []
        return taken

    def take_connections(self) -> list[ConnectionEvent]:
        """What has become of the device's own connections since the last call, in order."""
        taken, self.connections = self.connections, []
        return taken
