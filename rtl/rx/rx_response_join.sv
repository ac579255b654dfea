// SPDX-License-Identifier: BSD-2-Clause
//
// Joins, frame by frame and in order, what the parser says (is it an
// ACKNOWLEDGE or a CNP for this port?) with the verdict on its ICRC, and lets out a
// response where both agree, from a register, or a notification of congestion, which is
// there for a cycle. ready_o admits no more than MaxFrames frames
// whose fate is open, so neither side ever finds its queue full.

`default_nettype none

module rx_response_join
  import rx_header_pkg::*;
#(
  parameter int unsigned MaxFrames = 16,
  parameter int unsigned Ipv6      = 0
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,

  input  wire logic                frame_taken_i,
  output      logic                ready_o,

  input  wire logic                frame_valid_i,
  input  wire logic                is_ack_i,
  input  wire logic                is_notice_i,
  input  wire frame_header_t       header_i,
  input  wire roce_pkg::ipv6_t     ipv6_i,

  input  wire logic                verdict_valid_i,
  input  wire logic                icrc_ok_i,

  output      logic                response_valid_o,
  input  wire logic                response_ready_i,
  output      roce_pkg::response_t response_o,
  output      logic                notice_valid_o,
  output      roce_pkg::notice_t   notice_o
);

  typedef struct packed {
    logic                is_ack;
    logic                is_notice;
    roce_pkg::response_t response;
  } candidate_t;

  ipv4_packet_t packet;
  roce_ack_t    roce;
  candidate_t   candidate, head;

  assign packet = ipv4_packet_t'(header_i.payload);
  assign roce   = roce_ack_t'(packet.payload);

  assign candidate.is_ack            = is_ack_i;
  assign candidate.is_notice         = is_notice_i;
  assign candidate.response.dest_qpn = roce.bth.dest_qpn;
  assign candidate.response.psn      = roce.bth.psn;
  assign candidate.response.syndrome = roce.syndrome;
  assign candidate.response.msn      = roce.msn;
  assign candidate.response.src_gid  = ipv6_i.version != '0 ? ipv6_i.src
      : roce_pkg::kept_gid({roce_pkg::Ipv4Prefix, packet.ip.src}, Ipv6);

  logic candidate_room, verdict_room, head_valid, verdict_valid, icrc_ok, take;
  stream_fifo #(
    .Width($bits(candidate_t)),
    .Depth(MaxFrames)
  ) u_candidates (
    .clk_i,
    .rst_ni,
    .s_data_i (candidate),
    .s_valid_i(frame_valid_i),
    .s_ready_o(candidate_room),
    .m_data_o (head),
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

  logic responds, room;
  assign responds = head_valid && verdict_valid && head.is_ack && icrc_ok;
  assign room     = !response_valid_o || response_ready_i;
  assign take     = head_valid && verdict_valid && (!responds || room);

  assign notice_valid_o = take && head.is_notice && icrc_ok;
  assign notice_o       = '{dest_qpn: head.response.dest_qpn, src_gid: head.response.src_gid};

  always_ff @(posedge clk_i) begin
    if (room) begin
      response_valid_o <= responds;
      response_o       <= head.response;
    end
    if (!rst_ni) response_valid_o <= 1'b0;
  end

  logic [$clog2(MaxFrames+1)-1:0] open_q;

  // A cycle late, in which a frame may come.
  always_ff @(posedge clk_i) begin
    ready_o <= !rst_ni || open_q < ($bits(open_q))'(MaxFrames) - 1'b1;
    if (!rst_ni) open_q <= '0;
    else         open_q <= open_q + ($bits(open_q))'(frame_taken_i) - ($bits(open_q))'(take);
  end

  candidates_fit: assert property (@(posedge clk_i) disable iff (!rst_ni)
      frame_valid_i |-> candidate_room);
  verdicts_fit: assert property (@(posedge clk_i) disable iff (!rst_ni)
      verdict_valid_i |-> verdict_room);

endmodule

`default_nettype wire
