// SPDX-License-Identifier: BSD-2-Clause
//
// Counts the READs and atomics whose last response has not left: of each queue pair, since
// a peer may have only so many, and of all, since what would change memory
// waits for them. A repeated READ counts only among all.

`default_nettype none

module read_counter
  import responder_pkg::*;
#(
  parameter int unsigned Qps = 16,
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic [IndexBits-1:0] index_i,  // the queue pair that is meant
  input  wire logic [4:0]           limit_i,  // of it
  output      logic                 free_o,   // it may have one more
  input  wire logic                 begins_i,
  input  wire logic                 holds_i,  // what begins is no repetition

  input  wire logic                 left_i,   // a frame, and this is its note
  input  wire read_note_t           note_i,
  output      logic                 none_o
);

  localparam int unsigned TotalBits = 8;  // more than all queues of answers can hold

  logic [4:0]           held_q[Qps];
  logic [4:0]           held_there;
  logic [TotalBits-1:0] total_q;
  logic                 ends, begins_held, ends_held;
  logic [IndexBits-1:0] ends_index;

  assign ends        = left_i && note_i.ends;
  assign begins_held = begins_i && holds_i;
  assign ends_held   = ends && note_i.holds;
  assign ends_index  = note_i.index[IndexBits-1:0];
  assign held_there  = held_q[ends_index];
  assign free_o      = held_q[index_i] < limit_i;
  assign none_o      = total_q == '0;

  always_ff @(posedge clk_i) begin
    total_q <= total_q + TotalBits'(begins_i) - TotalBits'(ends);
    if (!(begins_held && ends_held && ends_index == index_i)) begin
      if (begins_held) held_q[index_i] <= held_q[index_i] + 1'b1;
      if (ends_held) held_q[ends_index] <= held_there - 1'b1;
    end
    if (!rst_ni) begin
      total_q <= '0;
      for (int unsigned i = 0; i < Qps; i++) held_q[i] <= '0;
    end
  end

  never_below_none: assert property (@(posedge clk_i) disable iff (!rst_ni)
      ends |-> total_q != '0 && (!note_i.holds || held_there != '0));

endmodule

`default_nettype wire
