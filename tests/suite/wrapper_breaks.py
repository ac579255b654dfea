# SPDX-License-Identifier: BSD-2-Clause
"""The wrapper of an example with one thing broken, as a changed copy, and what names the break."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from roceproof.common.paths import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
_WRAPPER = "roceproof_wrapper.sv"


class Break(NamedTuple):
    """Edits of a file, and what the first finding has to name."""

    device: str
    edits: tuple[tuple[str, str], ...]
    named: str
    """A regular expression."""
    file: str = _WRAPPER


def _tied(device: str, before: str, after: str, named: str, file: str = _WRAPPER) -> Break:
    return Break(device, ((before, after),), named, file)


_W, _B = "uc_writer", "byte_endpoint"
BREAKS = {
    "wr_ready low": _tied(
        _W, "wr_ready_o    = state_q == Idle && !qpc_valid_i;", "wr_ready_o = 1'b0;", "wr_ready_o"
    ),
    "qpc_ready low": _tied(
        _W, "qpc_ready_o   = state_q == Idle;", "qpc_ready_o = 1'b0;", "qpc_ready_o"
    ),
    "pl_tready low": _tied(
        _W,
        "tready_o = count_q < 4 && !ending_q;",
        "tready_o = 1'b0;",
        "pl_tready_o",
        "wrapper_payload.sv",
    ),
    "cpl_valid low": _tied(
        _W, "cpl_valid_o   = state_q == Complete;", "cpl_valid_o = 1'b0;", "cpl_valid_o"
    ),
    "tx_tvalid low": _tied(
        _W,
        "tx_tvalid_o <= tx_valid_i && (upper_q || tx_last_i);",
        "tx_tvalid_o <= 1'b0;",
        "tx_tvalid_o",
        "wrapper_frames.sv",
    ),
    "rx_tready low": _tied(
        _W, "rx_tready_o = whole;", "rx_tready_o = 1'b0;", "rx_tready_o", "wrapper_frames.sv"
    ),
    "rx valid cut": _tied(_W, ".rx_valid     (rx_tvalid_i),", ".rx_valid (1'b0),", "ARP"),
    "tos and ttl swapped": _tied(
        _W,
        "qpc_q.traffic_class, qpc_q.hop_limit}",
        "qpc_q.hop_limit, qpc_q.traffic_class}",
        "tos.*ttl|ttl.*tos",
    ),
    "va halves swapped": Break(
        _W,
        (
            ("wr_q.remote_addr[63:32]", "wr_q.remote_addr_low"),
            ("wr_q.remote_addr[31:0]", "wr_q.remote_addr[63:32]"),
            ("wr_q.remote_addr_low", "wr_q.remote_addr[31:0]"),
        ),
        "va ",
    ),
    "rkey and immediate swapped": Break(
        _W,
        (
            ("bus_wdata = wr_q.rkey;", "bus_wdata = wr_q.immed;"),
            ("bus_wdata = wr_q.immediate;", "bus_wdata = wr_q.rkey;"),
            ("bus_wdata = wr_q.immed;", "bus_wdata = wr_q.immediate;"),
        ),
        "imm.*rkey",
    ),
    "tkeep mirrored": _tied(
        _W, "return {<<{keep}};", "return keep;", "tkeep|cut", "wrapper_frames.sv"
    ),
    "payload a lane off": _tied(
        _W,
        "null_lanes       = 3'(unsigned'(lane));",
        "null_lanes       = 3'(unsigned'(lane + 1));",
        "payload",
        "wrapper_payload.sv",
    ),
    "completion twice": Break(
        _W,
        (
            (
                "Complete: if (cpl_ready_i) state_q <= Idle;",
                "Complete: if (cpl_ready_i) begin\n"
                "  twice_q <= !twice_q;\n  if (twice_q) state_q <= Idle;\nend",
            ),
            ("  logic [2:0]    step_q;", "  logic [2:0]    step_q;\n  logic twice_q = 1'b0;"),
        ),
        "cpl_o tells some twice, or what a reset ended",
    ),
    "completion of another qpn": _tied(_W, "qpn: wr_q.qpn,", "qpn: 32'd0,", "complet|qpn"),
    "status always an error": _tied(
        _W, "status: status_q,", "status: StatusLocQpOpErr,", "loc_qp_op_err|status"
    ),
    "tuser high": _tied(_W, "tx_tuser_o = 1'b0;", "tx_tuser_o = 1'b1;", "tx_tuser"),
    "tlast never": _tied(
        _W, "tx_tlast_o  <= tx_last_i;", "tx_tlast_o  <= 1'b0;", "tx_tkeep", "wrapper_frames.sv"
    ),
    "own qpn sent": _tied(_W, "qpc_q.remote_qpn[23:0]}", "qpc_q.local_qpn[23:0]}", "qpn"),
    "psn of the other side": _tied(
        _W, "bus_wdata = qpc_q.sq_psn;", "bus_wdata = qpc_q.rq_psn;", "psn"
    ),
    "half the clock": Break(
        _W,
        (
            (
                "  wrapper_frames u_frames (\n    .clk_i,",
                "  logic half_q = 1'b0;\n  always_ff @(posedge clk_i) half_q <= !half_q;\n"
                "  wrapper_frames u_frames (\n    .clk_i(half_q),",
            ),
        ),
        "tx",
    ),
    "mac turned": _tied(
        _W,
        "bus_wdata = {16'd0, port_mac_i[47:32]};",
        "bus_wdata = {16'd0, port_mac_i[15:0]};",
        "src_mac|ARP",
    ),
    "B sq and rq psn swapped": _tied(
        _B,
        "sq_psn: qpc_i.sq_psn[23:0], rq_psn: qpc_i.rq_psn[23:0]",
        "sq_psn: qpc_i.rq_psn[23:0], rq_psn: qpc_i.sq_psn[23:0]",
        "psn",
    ),
    "B sport and ip_id swapped": Break(
        _B,
        (
            ("sport: qpc_i.udp_sport", "sport: qpc_i.ip_id"),
            ("ip_id: qpc_i.ip_id, mtu", "ip_id: qpc_i.udp_sport, mtu"),
        ),
        "sport.*ident|ident.*sport",
    ),
    "B reset turned": _tied(_B, "    .rst_ni,\n", "    .rst_ni(!rst_ni),\n", "rst_ni"),
    "B pl_tlast late": Break(
        _B,
        (
            ("    .pl_tlast_i,\n", "    .pl_tlast_i(late_q),\n"),
            (
                "  byte_endpoint #(",
                "  logic late_q;\n  always_ff @(posedge clk_i) late_q <= pl_tlast_i;\n"
                "  byte_endpoint #(",
            ),
        ),
        "pl_tlast_i",
    ),
    "B ttl not masked": _tied(
        _B, "{15, 22, 24,", "{15, 24,", "an ACK with the TTL all ones", "core/be_receiver.sv"
    ),
}


def broken(folder: Path, name: str) -> Path:
    """The manifest of the copy."""
    chosen = BREAKS[name]
    return changed(folder, chosen.device, chosen.file, chosen.edits)


def changed(folder: Path, device: str, file: str, edits: tuple[tuple[str, str], ...]) -> Path:
    """An example with other text in one of its files; the manifest of the copy."""
    copy = folder / device
    shutil.copytree(EXAMPLES / device, copy)
    source = copy / file
    text = source.read_text()
    for before, after in edits:
        assert text.count(before) == 1, f"{before} in {file}"
        text = text.replace(before, after)
    source.write_text(text)
    manifest = copy / "dut.toml"
    manifest.write_text(manifest.read_text().replace("../../", f"{REPOSITORY}/"))
    return manifest
