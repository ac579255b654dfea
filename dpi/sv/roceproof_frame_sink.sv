// SPDX-License-Identifier: BSD-2-Clause
//
// Frames out of the DUT: gathers beats into chunks and hands them to C. Stops
// taking when the link is full, until the next wake. A beat that breaks the
// contract's tkeep rules ends the simulation.

`default_nettype none

module roceproof_frame_sink
  import roceproof_bridge_pkg::*;
#(
  parameter int          Index     = 0,
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [63:0]            seed_i,
  input  wire cycle_t                 cycle_i,
  input  wire logic                   wake_i,
  input  wire logic [7:0]             stall_i,  // percent
  output logic                        poll_o,
  input  wire logic [DataWidth-1:0]   tdata_i,
  input  wire logic [DataWidth/8-1:0] tkeep_i,
  input  wire logic                   tvalid_i,
  input  wire logic                   tlast_i,
  input  wire logic                   tuser_i,
  output logic                        tready_o
);

  localparam int unsigned Lanes = DataWidth / 8;
  localparam int unsigned Beats = ChunkBytes / Lanes;

  typedef logic [(Beats > 1 ? $clog2(Beats) : 1)-1:0] beat_t;

  logic [DataWidth-1:0] chunk_q[Beats];
  beat_t                beat_q;
  logic                 full_q;

  logic open;
  assign tready_o = open && !full_q;

  roceproof_gate #(
    .Stream(StreamTx)
  ) u_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(stall_i),
    .draw_i   (1'b1),
    .open_o   (open)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      poll_o <= 1'b0;
      beat_q <= '0;
    end else begin
      poll_o <= 1'b0;
      if (wake_i) full_q <= 1'b0;
      if (tvalid_i && tready_o) begin
        if (tlast_i || 32'(beat_q) == Beats - 1) begin
          automatic chunk_t      data;
          automatic chunk_info_t info;
          automatic put_answer_t answer;
          for (int unsigned i = 0; i < Beats; i++) begin
            data[i*DataWidth+:DataWidth] = i == 32'(beat_q) ? tdata_i : chunk_q[i];
          end
          info         = '0;
          info.stop    = 8'(32'(beat_q) * Lanes + $countones(tkeep_i));
          info.last    = tlast_i;
          info.discard = tlast_i && tuser_i;
          answer       = roceproof_put_chunk(port[Index], cycle_i, data, info);
          full_q       <= answer.full;
          poll_o       <= answer.poll;
          beat_q       <= '0;
        end else begin
          chunk_q[beat_q] <= tdata_i;
          beat_q          <= beat_q + beat_t'(1);
        end
      end
    end
  end

  // One more than a run of ones from bit 0 shares no bit with it.
  logic [Lanes-1:0] keep_plus_one;
  assign keep_plus_one = tkeep_i + Lanes'(1);

  always_ff @(posedge clk_i) begin
    if (rst_ni && tvalid_i) begin
      KeepContiguous :
      assert (tkeep_i[0] && (keep_plus_one & tkeep_i) == '0)
      else $fatal(1, "port %0d: tx_tkeep is not contiguous from bit 0", Index);
      KeepFullBeforeLast :
      assert (tlast_i || (&tkeep_i))
      else $fatal(1, "port %0d: tx_tkeep is not all ones before the last beat", Index);
    end
  end

endmodule

`default_nettype wire
