# SPDX-License-Identifier: BSD-2-Clause
"""A requester and a responder made of Scapy layers, and tshark with the plugin as it is here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import Flow, Record
from roceproof.conformance.wire.scapy import AETH, BTH, RETH

PLUGIN = REPOSITORY / "pcap" / "wireshark" / "roceproof.lua"
ROOT_NOTICE = "Running as user"
RPC_GUESS = "rpcrdma_infiniband"  # fails an assertion of its own on short SENDs
TSHARK_SECONDS = 60
QPN = 0x11


def frame(transport: Packet, *, reverse: bool = False) -> bytes:
    ends = ("10.0.0.2", "10.0.0.1") if reverse else ("10.0.0.1", "10.0.0.2")
    head = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src=ends[0], dst=ends[1])
    return bytes(head / UDP(sport=0xC0DE) / transport)


def send(psn: int, opcode: str = "RC SEND ONLY", payload: bytes = b"data") -> bytes:
    return frame(BTH(opcode=opcode, dqpn=QPN, psn=psn % (1 << 24)) / payload)


def read(psn: int, length: int) -> bytes:
    return frame(BTH(opcode="RC READ REQUEST", dqpn=QPN, psn=psn) / RETH(length=length))


def ack(psn: int, syndrome: int = 0x1F) -> bytes:
    transport = BTH(opcode="RC ACKNOWLEDGE", dqpn=0x22, psn=psn) / AETH(syndrome=syndrome)
    return frame(transport, reverse=True)


def corrupted(good: bytes) -> bytes:
    """The frame with its ICRC wrong in one bit."""
    return good[:-1] + bytes([good[-1] ^ 1])


def capture(
    path: Path, frames: Iterable[bytes], *, cut: int | None = None, comments: Sequence[str] = ()
) -> Path:
    records = []
    for index, data in enumerate(frames):
        comment = comments[index] if index < len(comments) else ""
        records.append(
            Record(
                interface="port",
                time_ns=index * 1000,
                flow=Flow.UNKNOWN,
                frame=data[:cut],
                comment=comment,
                bytes_cut=len(data) - len(data[:cut]),
            )
        )
    write_pcapng(path, records)
    return path


def tshark(*words: str, home: Path, plugin: bool = True, **env: str) -> str:
    """tshark's output, as a user who has nothing configured but what is below `home`."""
    ours = ["-X", f"lua_script:{PLUGIN}", "--disable-heuristic", RPC_GUESS] if plugin else []
    command = ["tshark", "-n", *ours, *words]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TSHARK_SECONDS,
        env={"PATH": os.environ["PATH"], "HOME": str(home), **env},
    )
    complaints = [
        line for line in done.stderr.splitlines() if line and not line.startswith(ROOT_NOTICE)
    ]
    assert done.returncode == 0 and not complaints, done.stderr
    return done.stdout


def fields(path: Path, *names: str, home: Path, options: Sequence[str] = ()) -> list[list[str]]:
    words = ["-r", str(path), *options, "-T", "fields", "-E", "separator=|"]
    words += [word for name in names for word in ("-e", f"roceproof.{name}")]
    return [line.split("|") for line in tshark(*words, home=home).splitlines()]
