// SPDX-License-Identifier: BSD-2-Clause
//
// Joins, frame by frame and in order, what the parser says with the verdict on
// the ICRC. Out come requests, with good_o where the verdict is right, and
// other frames that have left beats behind which must be forgotten; frames
// without either vanish. ready_o admits no more than MaxFrames frames whose
// fate is open, so neither side ever finds its queue full.

`default_nettype none

module request_join
  import request_pkg::request_t;
#(
  parameter int unsigned CountBits = 10,
  parameter int unsigned MaxFrames = 16
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 frame_taken_i,
  output      logic                 ready_o,

  input  wire logic                 frame_valid_i,
  input  wire logic                 is_request_i,
  input  wire request_t             request_i,
  input  wire logic [CountBits-1:0] beats_i,

  input  wire logic                 verdict_valid_i,
  input  wire logic                 icrc_ok_i,

  output      logic                 request_valid_o,
  input  wire logic                 request_ready_i,
  output      logic                 good_o,
  output      request_t             request_o,
  output      logic [CountBits-1:0] beats_o
);

  logic candidate_room, verdict_room, head_valid, verdict_valid, is_request, icrc_ok, take;

  stream_fifo #(
    .Width(1 + $bits(request_t) + CountBits),
    .Depth(MaxFrames)
  ) u_candidates (
    .clk_i,
    .rst_ni,
    .s_data_i ({is_request_i, request_i, beats_i}),
    .s_valid_i(frame_valid_i),
    .s_ready_o(candidate_room),
    .m_data_o ({is_request, request_o, beats_o}),
    .m_valid_o(head_valid),
    .m_ready_i(take)
  );

  stream_fifo #(
    .Width(1),
    .Depth(MaxFrames)
  ) u_verdicts (
    .clk_i,
    .rst_ni,
    .s_data_i (icrc_ok_i),
    .s_valid_i(verdict_valid_i),
    .s_ready_o(verdict_room),
    .m_data_o (icrc_ok),
    .m_valid_o(verdict_valid),
    .m_ready_i(take)
  );

  assign good_o          = is_request && icrc_ok;
  assign request_valid_o = head_valid && verdict_valid && (good_o || beats_o != '0);
  assign take            = head_valid && verdict_valid && (!request_valid_o || request_ready_i);

  logic [$clog2(MaxFrames+1)-1:0] open_q;
  assign ready_o = open_q != ($bits(open_q))'(MaxFrames);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_q <= '0;
    else         open_q <= open_q + ($bits(open_q))'(frame_taken_i) - ($bits(open_q))'(take);
  end

  candidates_fit: assert property (@(posedge clk_i) disable iff (!rst_ni)
      frame_valid_i |-> candidate_room);
  verdicts_fit: assert property (@(posedge clk_i) disable iff (!rst_ni)
      verdict_valid_i |-> verdict_room);

endmodule

`default_nettype wire
