# SPDX-License-Identifier: BSD-2-Clause
"""How a simulation is set up: its ports, their links and the disturbance of their streams."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Self

from roceproof import __version__
from roceproof.dpi.contract.records import RecordError
from roceproof.dpi.manifest.dut import Manifest
from roceproof.dpi.session import wire
from roceproof.dpi.session.wire import MessageType
from roceproof.verbs.addresses import parse_gid, parse_mac

STANDS_STILL = 100


@dataclass(frozen=True, kw_only=True)
class Flow:
    """How often each stream pauses, in percent of the cycles; at 100 it stands still."""

    tx_stall: int = 0
    rx_gap: int = 0
    payload_gap: int = 0
    qpc_gap: int = 0
    wr_gap: int = 0
    cpl_stall: int = 0
    memory_stall: int = 0
    """Of commands to memory, and of what is written: each stream by itself."""
    memory_gap: int = 0
    """Of what is read."""
    memory_lag: int = 0
    """Of writes that end: one does in a cycle, and all begin in the meantime."""

    @classmethod
    def none(cls) -> Self:
        """Nothing moves on any stream."""
        return cls(**{each.name: STANDS_STILL for each in fields(cls)})

    def pack(self) -> bytes:
        """One byte each, in the bridge's order."""
        order = (
            *("rx_gap", "payload_gap", "qpc_gap", "wr_gap", "tx_stall", "cpl_stall"),
            *("memory_stall", "memory_gap", "memory_lag"),
        )
        for name in order:
            if not 0 <= getattr(self, name) <= STANDS_STILL:
                raise RecordError(f"{name} is {getattr(self, name)} %, expected 0..100")
        return bytes(getattr(self, name) for name in order)


@dataclass(frozen=True, kw_only=True)
class PortOptions:
    """One simulated Ethernet port. Ports with the same capture path share the file."""

    mac: str = "02:00:00:00:00:01"
    ipv4: str = "192.168.1.1"
    link: str = "lockstep"
    capture: Path | None = None
    flow: Flow = field(default_factory=Flow)

    def pack(self, index: int) -> bytes:
        """The PORT message that sets up port `index`."""
        return wire.message(
            MessageType.PORT,
            bytes((index,)),
            parse_mac(self.mac),
            parse_gid(self.ipv4),
            self.flow.pack(),
            wire.text(self.link),
            wire.text(str(self.capture.absolute()) if self.capture else ""),
        )


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """What holds for a whole simulation."""

    seed: int = 1
    free_running: bool = False
    cycles: int | None = None  # free-running: stand still there
    command: str | None = None  # that repeats the run

    def pack(self, manifest: Manifest, data_width: int, ports: Sequence[PortOptions]) -> bytes:
        """Every message up to START. Captures get no path and no date, so that runs repeat."""
        comment = "\n".join(
            (
                f"roceproof {__version__}",
                f"dut {manifest.name}, {data_width} bit, {len(ports)} port(s)",
                f"seed {self.seed}",
                *((f"command {self.command}",) if self.command else ()),
            )
        )
        session = wire.message(
            MessageType.SESSION,
            bytes((self.free_running,)),
            (self.seed % 2**64).to_bytes(8, "little"),
            (self.cycles or 0).to_bytes(8, "little"),
            wire.text(comment),
        )
        return b"".join(
            (
                session,
                *(port.pack(index) for index, port in enumerate(ports)),
                wire.message(MessageType.START),
            )
        )
