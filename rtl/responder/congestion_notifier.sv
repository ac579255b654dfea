// SPDX-License-Identifier: BSD-2-Clause
//
// The notification point: a request whose ICRC is right and that a switch has marked (CE), on an RC
// or UC queue pair that receives, from its peer, is told to that peer, whatever becomes of the
// request. What the engine still does with requests before it delays nothing. The first mark of a
// queue pair is told at once, further ones in `Distance` cycles once at most; a mark that comes
// while a notification waits is told by that one. A queue pair that is configured or fails has
// seen no mark, and what waits for it is not sent any more. Marks never stop frames.

`default_nettype none

module congestion_notifier
  import request_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::ServiceRc, roceproof_dut_pkg::ServiceUc;
#(
  parameter int unsigned Qps      = 16,
  parameter int unsigned Distance = 1,
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 frame_taken_i,  // its last beat, from the wire
  input  wire logic                 frame_valid_i,  // all of it is known but its ICRC
  input  wire logic                 is_marked_i,    // it is a request, and marked
  input  wire request_t             request_i,
  input  wire logic                 verdict_valid_i,
  input  wire logic                 icrc_ok_i,

  input  wire logic                 changed_i,      // a queue pair is configured, or fails
  input  wire logic                 configures_i,
  input  wire logic [IndexBits-1:0] index_i,
  input  wire receiver_t            told_i,         // by the configuration

  output      logic                 notice_valid_o,
  input  wire logic                 notice_ready_i,
  output      roce_tx_pkg::path_t   notice_o
);

  localparam int unsigned MaxFrames = 16;

  typedef logic [IndexBits-1:0] index_t;
  typedef logic [39:0]          cycle_t;  // comes again after an hour, and is wrong once then

  typedef struct packed {
    logic         reliable;
    logic [23:0]  local_qpn;
    logic [127:0] gid;
  } peer_t;

  // By queue pair.
  logic [Qps-1:0] active_q;   // it receives, and has a peer
  logic [Qps-1:0] due_q;      // a notification
  logic [Qps-1:0] waiting_q;  // it is in the queue, due or not any more
  logic [Qps-1:0] told_q;     // there was one since it was configured

  logic               mark_valid, unused_room, unused_good, unused_beats;
  request_t           mark;
  logic               looks, looked_q, is_from_peer, is_soon, notifies;
  peer_t              peer;
  cycle_t             now_q, told_at;
  index_t             index, head;
  logic               head_valid, queue_room, fetched_q, sends, skips;
  roce_tx_pkg::path_t path;

  request_join #(
    .CountBits(1),
    .MaxFrames(MaxFrames)
  ) u_marks (
    .clk_i,
    .rst_ni,
    .frame_taken_i,
    .ready_o        (unused_room),
    .frame_valid_i,
    .is_request_i   (is_marked_i),
    .request_i,
    .beats_i        (1'b0),
    .verdict_valid_i,
    .icrc_ok_i      (icrc_ok_i),
    .request_valid_o(mark_valid),
    .request_ready_i(looked_q),
    .good_o         (unused_good),
    .request_o      (mark),
    .beats_o        (unused_beats)
  );

  ram_1r1w #(
    .Width($bits(peer_t)),
    .Words(Qps)
  ) u_peers (
    .clk_i,
    .write_i      (changed_i && configures_i),
    .write_index_i(index_i),
    .write_data_i ({told_i.reliable, told_i.local_qpn, told_i.path.remote_gid}),
    .read_i       (looks),
    .read_index_i (index),
    .read_data_o  (peer)
  );

  ram_1r1w #(
    .Width  ($bits(cycle_t)),
    .Words  (Qps),
    .Forward(1)
  ) u_told (
    .clk_i,
    .write_i      (sends),
    .write_index_i(head),
    .write_data_i (now_q),
    .read_i       (looks),
    .read_index_i (index),
    .read_data_o  (told_at)
  );

  // A mark in two cycles: what is known of its queue pair, and what follows.
  assign index        = mark.dest_qpn[IndexBits-1:0];
  assign looks        = mark_valid && !looked_q && !changed_i;
  assign is_from_peer = active_q[index] && peer.local_qpn == mark.dest_qpn
      && peer.gid == mark.src_gid
      && mark.opcode[7:5] == (peer.reliable ? ServiceRc[2:0] : ServiceUc[2:0]);
  assign is_soon      = told_q[index] && now_q - told_at < cycle_t'(Distance);
  assign notifies     = looked_q && is_from_peer && !is_soon && !due_q[index];

  stream_fifo #(
    .Width(IndexBits),
    .Depth(Qps)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .s_data_i (index),
    .s_valid_i(notifies && !waiting_q[index]),
    .s_ready_o(queue_room),
    .m_data_o (head),
    .m_valid_o(head_valid),
    .m_ready_i(sends || skips)
  );

  ram_1r1w #(
    .Width($bits(roce_tx_pkg::path_t)),
    .Words(Qps)
  ) u_paths (
    .clk_i,
    .write_i      (changed_i && configures_i),
    .write_index_i(index_i),
    .write_data_i (told_i.path),
    .read_i       (1'b1),
    .read_index_i (head),
    .read_data_o  (path)
  );

  assign notice_valid_o = fetched_q && due_q[head];
  assign sends          = notice_valid_o && notice_ready_i;
  assign skips          = fetched_q && !due_q[head] && !notifies;

  always_comb begin
    notice_o                    = path;
    notice_o.traffic_class[1:0] = 2'b00;
  end

  always_ff @(posedge clk_i) begin
    now_q     <= now_q + 1'b1;
    looked_q  <= looks;
    fetched_q <= head_valid && !sends && !skips && !changed_i;

    if (notifies) begin
      due_q[index]     <= 1'b1;
      waiting_q[index] <= 1'b1;
    end
    if (sends || skips) waiting_q[head] <= 1'b0;
    if (sends) begin
      due_q[head]  <= 1'b0;
      told_q[head] <= 1'b1;
    end
    if (changed_i) begin
      active_q[index_i] <= configures_i && told_i.receiving && !told_i.datagram;
      due_q[index_i]    <= 1'b0;
      told_q[index_i]   <= 1'b0;
    end

    if (!rst_ni) begin
      now_q     <= '0;
      looked_q  <= 1'b0;
      fetched_q <= 1'b0;
      active_q  <= '0;
      due_q     <= '0;
      waiting_q <= '0;
      told_q    <= '0;
    end
  end

  queue_has_room: assert property (@(posedge clk_i) disable iff (!rst_ni)
      notifies && !waiting_q[index] |-> queue_room);
  notices_have_a_peer: assert property (@(posedge clk_i) disable iff (!rst_ni)
      notice_valid_o |-> active_q[head] && waiting_q[head]);

endmodule

`default_nettype wire
