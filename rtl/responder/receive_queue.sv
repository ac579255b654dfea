// SPDX-License-Identifier: BSD-2-Clause
//
// The receives of every queue pair, each queue first in, first out, with a
// place for Depth. The head of the queue that was looked up last is there one
// cycle later; it stays at the head until it is taken. Whoever uses this does
// one thing in a cycle.

`default_nettype none

module receive_queue
  import responder_pkg::*;
#(
  parameter int unsigned Qps   = 16,
  parameter int unsigned Depth = 16,
  localparam int unsigned IndexBits = $clog2(Qps),
  localparam int unsigned PlaceBits = $clog2(Depth)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic [IndexBits-1:0] index_i,      // the queue that is meant
  input  wire logic                 lookup_i,
  input  wire logic                 post_i,       // only where there is room
  input  wire receive_slot_t        receive_i,
  input  wire logic                 take_i,       // the head goes
  input  wire logic                 clear_i,
  output      logic                 room_o,
  output      logic                 head_valid_o,
  output      receive_slot_t        head_o        // of the queue looked up
);

  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_bad_depth
    $error("receive_queue: Depth must be a power of two, at least 2");
  end

  typedef logic [PlaceBits:0] place_t;  // one bit more than an index: full is not empty

  place_t posted_q[Qps];
  place_t taken_q [Qps];

  assign room_o       = posted_q[index_i] - taken_q[index_i] != place_t'(Depth);
  assign head_valid_o = posted_q[index_i] != taken_q[index_i];

  ram_1r1w #(
    .Width($bits(receive_slot_t)),
    .Words(Qps * Depth)
  ) u_receives (
    .clk_i,
    .write_i      (post_i),
    .write_index_i({index_i, posted_q[index_i][PlaceBits-1:0]}),
    .write_data_i (receive_i),
    .read_i       (lookup_i),
    .read_index_i ({index_i, taken_q[index_i][PlaceBits-1:0]}),
    .read_data_o  (head_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Qps; i++) begin
        posted_q[i] <= '0;
        taken_q[i]  <= '0;
      end
    end else begin
      if (post_i) posted_q[index_i] <= posted_q[index_i] + 1'b1;
      if (take_i) taken_q[index_i] <= taken_q[index_i] + 1'b1;
      if (clear_i) taken_q[index_i] <= posted_q[index_i];
    end
  end

  post_has_room: assert property (@(posedge clk_i) disable iff (!rst_ni) post_i |-> room_o);
  take_has_head: assert property (@(posedge clk_i) disable iff (!rst_ni) take_i |-> head_valid_o);
  one_at_a_time: assert property (@(posedge clk_i) disable iff (!rst_ni)
      $onehot0({post_i, take_i, clear_i}));

endmodule

`default_nettype wire
