# SPDX-License-Identifier: BSD-2-Clause
"""The endpoint with its responder, hung or wrapped wrongly: one build that breaks in any place.

Which event brings it about, after how many, and which streams break then, is in a file beside its
manifest, read when a simulation starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roceproof.common.paths import BUILD, REFERENCE_DUT

_EVENTS = [
    *("cycle", "configuration", "work", "payload-beat", "sent-beat", "sent-frame", "heard-beat"),
    *("heard-frame", "damaged", "completed", "region", "receive", "received", "written", "read"),
    *("wrapped", "refused"),
]
_ALL = "rx pl qpc wr tx cpl mr rcv rcp mwc mwd mrc"
_STREAMS = [
    *(*_ALL.split(), "endless", "again", "babbling", "loop", "swallow", "deaf", "rx-mirror"),
    *("rx-bad", "cpl-qpn", "rcp-qpn", "qpn-swap", "key-swap", "va-swap", "rcv-swap"),
    *("mwd-mirror", "mrd-mirror"),
]
_MANIFEST = """\
schema = 2
name = "hanging"
top = "hanging_endpoint"
sources = ["{endpoint}", "{wrapper}"]
clock_ps = 6400
data_widths = [64]
[parameters]
Place = '"{place}"'
[capabilities]
RC = ["SEND", "SEND_IMM", "WRITE", "WRITE_IMM"]
UC = ["SEND", "SEND_IMM", "WRITE", "WRITE_IMM"]
[limits]
qps = 16
[responder]
regions = 256
states = true
message_count = true
RC = ["SEND", "SEND_IMM", "WRITE", "WRITE_IMM", "READ"]
UC = ["SEND", "SEND_IMM", "WRITE", "WRITE_IMM"]
"""


@dataclass(frozen=True)
class Hang:
    """After so many of an event these streams stop."""

    event: str
    count: int
    streams: str
    told: str
    """What the verdict says of it, among other things."""

    def __str__(self) -> str:
        mask = sum(1 << _STREAMS.index(stream) for stream in self.streams.split())
        return f"{_EVENTS.index(self.event)} {self.count} {mask}\n"


HANGS = {
    "after-reset": Hang("cycle", 1, _ALL, "no configuration was ever taken: qpc_ready_o is low"),
    "after-a-while": Hang("cycle", 6000, _ALL, "after cycle 6,000 the device stands still"),
    "no-configuration": Hang(
        "cycle", 1, "qpc", "no configuration was ever taken: qpc_ready_o is low"
    ),
    "in-the-second-configuration": Hang(
        "configuration", 2, _ALL, "after 2 configurations the device stands still"
    ),
    "configurations-after-four": Hang(
        "configuration", 4, "qpc", "after 4 configurations no other is taken: qpc_ready_o is low"
    ),
    "no-work": Hang("cycle", 1, "wr", "no work request was ever taken: wr_ready_o is low"),
    "work-after-five": Hang(
        "work", 5, "wr", "after 5 work requests no other is taken: wr_ready_o is low"
    ),
    "no-payload": Hang("cycle", 1, "pl", "no payload was ever taken: pl_tready_o is low"),
    "amid-payload": Hang(
        "payload-beat", 40, "pl", "beats of payload no other is taken: pl_tready_o is low"
    ),
    "sends-nothing": Hang("cycle", 1, "tx", "no frame ever left: tx_tvalid_o is low"),
    "amid-a-frame": Hang(
        "sent-beat", 50, "tx", "beats of frames no other leaves: tx_tvalid_o is low"
    ),
    "after-seven-frames": Hang(
        "sent-frame", 7, "tx", "after 7 frames no other leaves: tx_tvalid_o is low"
    ),
    "a-frame-without-end": Hang(
        "sent-frame", 3, "endless", "after 3 frames the next does not end: tx_tvalid_o"
    ),
    "asks-without-end": Hang(
        "heard-frame", 2, "babbling", "ARP, ICMP and pause frames came of the device"
    ),
    "hears-nothing": Hang("cycle", 1, "rx", "no frame was ever taken: rx_tready_o is low"),
    "amid-what-it-hears": Hang(
        "heard-beat", 30, "rx", "amid a frame: WAITS for the device: rx_tready_o is low"
    ),
    "after-a-damaged-frame": Hang(
        "damaged", 1, _ALL, "the device stands still: rx_tready_o is low"
    ),
    "completes-nothing": Hang("cycle", 1, "cpl", "no work was ever completed: cpl_valid_o is low"),
    "completes-five": Hang(
        "completed", 5, "cpl", "after 5 completions no other comes: cpl_valid_o is low"
    ),
    "completes-without-end": Hang(
        "completed", 1, "again", "cpl_o tells some twice, or what a reset ended"
    ),
    "no-receive": Hang("cycle", 1, "rcv", "no receive was ever taken: rcv_ready_o is low"),
    "no-region": Hang("cycle", 1, "mr", "no region was ever taken: mr_ready_o is low"),
    "tells-no-receive": Hang("cycle", 1, "rcp", "none was ever completed: rcp_valid_o is low"),
    "writes-nothing": Hang("cycle", 1, "mwc mwd", "requests were taken, and nothing answers"),
    "reads-nothing": Hang("cycle", 1, "mrc", "READ_RESP_"),
    "swallows-work": Hang(
        "work", 5, "swallow", "completions no more work leaves, though wr_ready_o takes it"
    ),
    "heeds-six-frames": Hang(
        "heard-frame", 6, "deaf", "after 6 frames that it hears frames are taken"
    ),
    "after-a-nak": Hang("refused", 1, _ALL, "the device stands still: rx_tready_o is low"),
    "at-the-wrap": Hang("wrapped", 1, _ALL, "the device stands still: rx_tready_o is low"),
    "a-cycle-without-end": Hang("work", 2, "loop", "stands in a cycle"),
}
BREAKS = {
    "what it hears has tkeep mirrored": Hang("cycle", 1, "rx-mirror", "rx_tkeep_i"),
    "what it hears is marked as damaged": Hang("cycle", 1, "rx-bad", "rx_tuser_i"),
    "work completes for another queue pair": Hang("cycle", 1, "cpl-qpn", "cpl_o"),
    "both QPNs are swapped": Hang("cycle", 1, "qpn-swap", "local_qpn"),
    "halves of the address of regions are swapped": Hang("cycle", 1, "va-swap", "va, length"),
}
"""The first question to a device tells them."""
LATER_BREAKS = {
    "R_Key and immediate are swapped": Hang("cycle", 1, "key-swap", "imm and rkey are swapped"),
    "receives complete for another queue pair": Hang("cycle", 1, "rcp-qpn", "qpn of rcp_o"),
    "length and key of receives are swapped": Hang("cycle", 1, "rcv-swap", "lkey of rcv_i"),
    "what it writes has tkeep mirrored": Hang("cycle", 1, "mwd-mirror", "mwd_tkeep"),
    "what it reads is mirrored": Hang(
        "cycle", 1, "mrd-mirror", "READ_RESP_FIRST came otherwise; payload"
    ),
}
"""The suite tells them in its first finding."""


def hanging_device(folder: Path, hang: Hang | None = None) -> Path:
    """Its manifest, which says nothing of where it hangs."""
    place = BUILD / "hanging" / "hang.txt"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(str(hang) if hang else "0 0 0\n")
    manifest = folder / "dut.toml"
    manifest.write_text(
        _MANIFEST.format(
            endpoint=REFERENCE_DUT.with_name("endpoint.f"),
            wrapper=Path(__file__).parent / "hanging" / "hanging_endpoint.sv",
            place=place,
        )
    )
    return manifest
