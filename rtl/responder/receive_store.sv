// SPDX-License-Identifier: BSD-2-Clause
//
// The receives of every queue pair: on a queue of its own, or on one that it
// shares with others, if such are built in. A shared queue serves whoever comes
// first, so a receive that a message has begun to fill leaves the queue and is
// held for its queue pair, whose head it stays until it is taken. A number of 1
// to Qps names a shared queue. Whoever uses this does one thing in a cycle.

`default_nettype none

module receive_store
  import responder_pkg::*;
#(
  parameter int unsigned Qps    = 16,
  parameter int unsigned Depth  = 16,
  parameter bit          Shared = 1'b0,
  localparam int unsigned IndexBits = $clog2(Qps),
  localparam int unsigned Queues    = Shared ? 2 * Qps : Qps,
  localparam int unsigned QueueBits = $clog2(Queues)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic [IndexBits-1:0] index_i,       // the queue pair that is meant
  input  wire logic                 lookup_i,
  input  wire logic [15:0]          number_i,      // of the shared queue that is meant instead, or 0
  input  wire logic                 join_i,        // the queue pair has the queue `srq_i` from now on
  input  wire logic [15:0]          srq_i,         // 0 is its own
  input  wire logic                 post_i,        // only where there is room
  input  wire receive_slot_t        receive_i,
  input  wire logic                 hold_i,        // the head is in use
  input  wire logic                 take_i,        // the head goes
  input  wire logic                 clear_i,
  output      logic                 room_o,
  output      logic                 head_valid_o,
  output      receive_slot_t        head_o,        // for the queue pair looked up
  output      logic                 is_own_o       // it ends with the queue pair
);

  typedef struct packed {
    logic                 joined;
    logic [IndexBits-1:0] index;
  } share_t;

  share_t               share_q[Qps];
  logic                 held_q [Qps];
  logic [QueueBits-1:0] queue;
  receive_slot_t        waiting, held;
  logic                 any_waits, holds, takes_waiting;

  always_comb begin
    queue = QueueBits'(index_i);
    if (share_q[index_i].joined && !clear_i) begin
      queue = QueueBits'(Qps) | QueueBits'(share_q[index_i].index);
    end
    if (number_i != '0) queue = QueueBits'(Qps) | QueueBits'(number_i - 16'd1);
  end

  assign holds         = hold_i && share_q[index_i].joined && !held_q[index_i];
  assign takes_waiting = holds || (take_i && !held_q[index_i]);
  assign head_valid_o  = held_q[index_i] || any_waits;
  assign head_o        = held_q[index_i] ? held : waiting;
  assign is_own_o      = held_q[index_i] || !share_q[index_i].joined;

  receive_queue #(
    .Qps  (Queues),
    .Depth(Depth)
  ) u_queues (
    .clk_i,
    .rst_ni,
    .index_i     (queue),
    .lookup_i,
    .post_i,
    .receive_i,
    .take_i      (takes_waiting),
    .clear_i,
    .room_o,
    .head_valid_o(any_waits),
    .head_o      (waiting)
  );

  ram_1r1w #(
    .Width($bits(receive_slot_t)),
    .Words(Qps)
  ) u_held (
    .clk_i,
    .write_i      (holds),
    .write_index_i(index_i),
    .write_data_i (waiting),
    .read_i       (lookup_i),
    .read_index_i (index_i),
    .read_data_o  (held)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Qps; i++) begin
        share_q[i] <= '0;
        held_q[i]  <= 1'b0;
      end
    end else begin
      if (holds) held_q[index_i] <= 1'b1;
      if (take_i || clear_i) held_q[index_i] <= 1'b0;
      if (join_i) begin
        share_q[index_i] <= '{joined: Shared && srq_i != '0 && srq_i <= 16'(Qps),
                              index: IndexBits'(srq_i - 16'd1)};
      end
    end
  end

endmodule

`default_nettype wire
