# SPDX-License-Identifier: BSD-2-Clause
"""The faults of the exercise `byte_endpoint_buggy`, one by one: as edits of the healthy device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.paths import REPOSITORY
from roceproof.dpi.manifest.dut import load_manifest

HEALTHY = REPOSITORY / "examples" / "byte_endpoint"


@dataclass(frozen=True)
class Fault:
    """What was done to a file, the cases that show it, and the rules that it breaks."""

    file: str
    edits: tuple[tuple[str, str], ...]
    cases: str  # as of -k
    rules: tuple[str, ...]  # the one that says it best, then what follows from it


def _fault(file: str, cases: str, rules: str, *edits: tuple[str, str]) -> Fault:
    return Fault(file, edits, cases, tuple(rules.split()))


FAULTS = {
    "psn-not-modulo": _fault(
        "be_responder.sv",
        "responder_psn",
        "PSN-15 PSN-14 NAK-01",
        ("          if (ahead[23]) begin\n", "          if (header_i.psn < expected_q) begin\n"),
    ),
    "msn-of-duplicates": _fault(
        "be_responder.sv",
        "responder_duplicates",
        "MSN-03 MSN-02 DUP-01 DUP-12",
        (
            "            send_o <= is_plain && anything_q;\n",
            "            send_o <= is_plain && anything_q;\n"
            "            if (is_last) msn_q <= msn_q + 24'd1;\n",
        ),
    ),
    "send-without-receive": _fault(
        "be_responder.sv",
        "responder_rnr",
        "RNR-01 RNR-02 RNR-06 RNR-07 RNR-09 RNR-12 IMM-04 MSN-01 MSN-02 MSN-04 MSN-05 QPS-04",
        (
            "            syndrome_o <= objection;\n",
            "            syndrome_o <= is_retried ? Ack : objection;\n"
            "            if (is_retried) expected_q <= expected_q + 24'd1;\n",
        ),
        (
            "          nak_pending_q <= is_retried;\n",
            "          nak_pending_q <= 1'b0;\n",
        ),
    ),
    "length-not-compared": _fault(
        "be_responder.sv",
        "responder_memory",
        "RETH-11",
        (
            "    else if (32'(payload_i) > left) begin\n",
            "    else if (is_send && 32'(payload_i) > left) begin\n",
        ),
        (
            "    end else if (is_write && is_last && 32'(payload_i) != left) objection = "
            "InvalidRequest;\n    else if",
            "    end else if",
        ),
    ),
    "nak-psn": _fault(
        "be_responder.sv",
        "responder_nak or responder_sequence",
        "NAK-02 NAK-01 NAK-03 NAK-04 NAK-05 NAK-12 NAK-14 NAK-16 ICRC-14",
        ("            psn_o         <= expected_q;\n", ""),
    ),
    "icrc-of-responses": _fault(
        "be_receiver.sv",
        "requester_receives_icrc",
        "ICRC-14 ICRC-11 ICRC-12 ICRC-20 ICRC-21",
        ("&& crc == 32'hDEBB_20E3;", "&& (crc == 32'hDEBB_20E3 || header_o.opcode == 8'h11);"),
    ),
    "no-drep": _fault(
        "be_cm.sv",
        "responder_cm",
        "CM-07 QPS-04",
        (
            "                  send_o           <= mad.attribute == Dreq;\n",
            "                  send_o           <= 1'b0;\n",
        ),
    ),
    "any-mtu": _fault(
        "be_cm.sv",
        "responder_cm",
        "CM-08",
        ("mad.mtu == 4'd0 || mad.mtu > LongestMtu", "mad.mtu > LongestMtu"),
        ("mtu: mad.mtu[2:0],", "mtu: mad.mtu == 4'd0 ? 3'd1 : mad.mtu[2:0],"),
    ),
    "psn-of-reply": _fault(
        "be_cm.sv",
        "requester_cm",
        "CM-05",
        ("replied.sq_psn     = mad.reply_psn;", "replied.sq_psn     = mad.reply_psn + 24'd1;"),
    ),
}
MORE_FAULTS = {
    "receives-flushed-out-of-turn": _fault(
        "be_receive_side.sv",
        "work_of_their_queue_pair_fails",
        "QPS-03 NAK-09",
        ("    .flush_i  (failed_i && !is_busy),\n", "    .flush_i  (failed_i),\n"),
    ),
}
"""Beside those of the exercise."""


def planted(file: str, faults: Iterable[Fault]) -> str:
    """A file of the healthy device with those of the faults that are in it."""
    text = (HEALTHY / "core" / file).read_text()
    for fault in faults:
        for old, new in fault.edits if fault.file == file else ():
            assert text.count(old) == 1, (file, old)
            text = text.replace(old, new)
    return text


def device_with(name: str, folder: Path) -> Path:
    """The manifest of a device with one fault."""
    fault = (FAULTS | MORE_FAULTS)[name]
    folder.mkdir(parents=True, exist_ok=True)
    changed = folder / fault.file
    changed.write_text(planted(fault.file, [fault]))
    text = (HEALTHY / "dut.toml").read_text()
    sources = [
        changed if path.name == fault.file else path
        for path in load_manifest(HEALTHY / "dut.toml").sources
    ]
    listed = ", ".join(f'"{path}"' for path in sources)
    lines = [
        f"sources = [{listed}]" if line.startswith("sources") else line
        for line in text.splitlines()
    ]
    manifest = folder / "dut.toml"
    manifest.write_text("\n".join(lines).replace('"byte_endpoint"', f'"byte_endpoint-{name}"'))
    return manifest
