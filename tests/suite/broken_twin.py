# SPDX-License-Identifier: BSD-2-Clause
"""The endpoint with limits and with faults of its own, as changed copies of its sources.

It never pads. Its queue of completions on UC holds eight, its queue of responses four, and both
lose what comes then. The IP length of a packet that has waited for a thousand cycles is wrong.
"""

from __future__ import annotations

from pathlib import Path

from roceproof.common.paths import REFERENCE_DUT
from roceproof.dpi import load_manifest

_FAULTS = (
    (
        "header_builder.sv",
        "return -packet.payload_bytes[1:0];",
        "return '0;",
    ),
    (
        "departure_queue.sv",
        ".s_data_i (push_i),",
        ".s_data_i (entry),",
    ),
    (
        "departure_queue.sv",
        "  stream_fifo #(",
        """\
  departure_t entry;
  always_comb begin
    entry = push_i;
    if (!push_i.discard && waiting_q >= count_t'(8)) entry.completes = 1'b0;
  end

  stream_fifo #(""",
    ),
    (
        "rx_response_join.sv",
        "= is_ack_i;",
        "= is_ack_i && open_q <= ($bits(open_q))'(4);",
    ),
    (
        "header_builder.sv",
        "16'(packet_end) - 16'(EthernetBytes);",
        "16'(packet_end) - 16'(EthernetBytes) + (held_q == '1 ? 16'd4 : 16'd0);",
    ),
    (
        "header_builder.sv",
        "  assign packet_ready_o =",
        """\
  logic [9:0] held_q;  // cycles for which a packet waits
  always_ff @(posedge clk_i) begin
    if (!valid_q[Placed] || moves[Placed]) held_q <= '0;
    else if (held_q != '1) held_q <= held_q + 1'b1;
  end

  assign packet_ready_o =""",
    ),
)
"""File, text, and what stands there instead."""
_MANIFEST = """\
schema = 2
name = "broken"
top = "roce_endpoint"
sources = {sources}
clock_ps = 6400
data_widths = [64]
[capabilities]
RC = ["SEND", "SEND_IMM", "WRITE", "WRITE_IMM"]
UC = ["SEND", "SEND_IMM", "WRITE", "WRITE_IMM"]
[limits]
qps = 16
path_mtus = [1024]
[fixed]
traffic_class = 0
hop_limit = 64
"""


_WAIVER = """\
[[waivers]]
limits = {{ {limits} }}
reason = "unaligned lengths come with the next core"
expires = 2999-01-31
"""


def broken_twin(folder: Path, *, waives: str = "") -> Path:
    """Its manifest, which waives what lies beyond limits."""
    sources = []
    for source in load_manifest(REFERENCE_DUT).sources:
        text = source.read_text()
        for file, before, after in _FAULTS:
            if file == source.name:
                assert text.count(before) == 1, f"{before} in {file}"
                text = text.replace(before, after)
        sources.append(str(folder / source.name))
        Path(sources[-1]).write_text(text)
    manifest = folder / "dut.toml"
    waiver = _WAIVER.format(limits=waives) if waives else ""
    manifest.write_text(_MANIFEST.format(sources=sources) + waiver)
    return manifest
