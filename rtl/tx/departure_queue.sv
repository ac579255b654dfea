// SPDX-License-Identifier: BSD-2-Clause
//
// Remembers, in order, what is to be done about each frame once its last beat
// has left (left_i), and presents it then: to the ACK tracker for an RC frame,
// as a completion for the end of a UC message or for a refused work request.
// Discarded payload sends no frame, so it is due at once in its turn.

`default_nettype none

module departure_queue
  import roceproof_dut_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned Depth     = 16,
  parameter int unsigned CountBits = $clog2(Depth + 1)
) (
  input  wire logic            clk_i,
  input  wire logic            rst_ni,
  input  wire logic            push_valid_i,
  output logic                 push_ready_o,
  input  wire departure_t      push_i,
  input  wire logic            left_i,
  output logic                 tracked_valid_o,
  input  wire logic            tracked_ready_i,
  output departure_t           tracked_o,
  output logic                 completion_valid_o,
  input  wire logic            completion_ready_i,
  output completion_t          completion_o,
  output logic                 owed_o,      // a frame has left and its entry has not gone
  output logic [CountBits-1:0] waiting_o,   // entries, due or not
  output logic                 popped_o     // one of them goes this cycle
);

  typedef logic [CountBits-1:0] count_t;

  departure_t next, head;
  logic       next_valid, head_valid, advance;
  logic       due;
  count_t     waiting_q;
  count_t     left_q;     // frames that left and were not yet accounted for

  assign advance            = !head_valid || popped_o;
  assign due                = head_valid && (head.discard || owed_o);
  assign tracked_valid_o    = due && head.tracked;
  assign tracked_o          = head;
  assign completion_valid_o = due && head.completes;
  assign completion_o       = head.completion;
  assign popped_o           = due && (!head.tracked || tracked_ready_i)
                              && (!head.completes || completion_ready_i);
  assign owed_o             = left_q != '0;
  assign waiting_o          = waiting_q;

  stream_fifo #(
    .Width($bits(departure_t)),
    .Depth(Depth)
  ) u_entries (
    .clk_i,
    .rst_ni,
    .s_data_i (push_i),
    .s_valid_i(push_valid_i),
    .s_ready_o(push_ready_o),
    .m_data_o (next),
    .m_valid_o(next_valid),
    .m_ready_i(advance)
  );

  always_ff @(posedge clk_i) begin
    if (advance) head <= next;
    if (!rst_ni) begin
      head_valid <= 1'b0;
      waiting_q  <= '0;
      left_q     <= '0;
    end else begin
      if (advance) head_valid <= next_valid;
      waiting_q <= waiting_q + count_t'(push_valid_i && push_ready_o) - count_t'(popped_o);
      left_q    <= left_q + count_t'(left_i) - count_t'(popped_o && !head.discard);
    end
  end

  assert_one_consumer: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(tracked_valid_o && completion_valid_o))
  else $error("an RC frame must not complete on departure");

  assert_left_known: assert property (@(posedge clk_i) disable iff (!rst_ni)
      left_q <= waiting_q)
  else $error("a frame left that nobody sent");

endmodule

`default_nettype wire
