// SPDX-License-Identifier: BSD-2-Clause
//
// What is due once writes are in memory: answers to the peer and completions
// of receives, in order. Each waits until as many writes are done as had been
// asked for before it, so nobody is told of bytes that are not there.

`default_nettype none

module outcome_queue
  import responder_pkg::*;
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned Depth = 16
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,

  input  wire logic                push_valid_i,
  output      logic                push_ready_o,
  input  wire outcome_t            outcome_i,

  input  wire write_count_t        asked_i,      // writes so far
  input  wire logic                done_valid_i,
  input  wire memory_done_t        done_i,
  output      logic                may_write_o,  // there are not too many outstanding
  output      logic                settled_o,    // nothing is outstanding, nothing is due

  output      logic                answer_valid_o,
  input  wire logic                answer_ready_i,
  output      answer_t             answer_o,
  output      logic                completion_valid_o,
  input  wire logic                completion_ready_i,
  output      receive_completion_t completion_o
);

  outcome_t     head;
  logic         head_valid, take, due, answer_open, completion_open;
  logic         answer_given_q, completion_given_q;
  write_count_t done_q, missing;

  stream_fifo #(
    .Width($bits(outcome_t)),
    .Depth(Depth)
  ) u_outcomes (
    .clk_i,
    .rst_ni,
    .s_data_i (outcome_i),
    .s_valid_i(push_valid_i),
    .s_ready_o(push_ready_o),
    .m_data_o (head),
    .m_valid_o(head_valid),
    .m_ready_i(take)
  );

  assign may_write_o = asked_i - done_q < write_count_t'(MaxWrites);
  assign settled_o   = !head_valid && asked_i == done_q;

  assign missing = head.asked - done_q;
  assign due     = head_valid && (missing == '0 || missing[$bits(missing)-1]);

  // Either side may take its part first.
  assign answer_open        = head.answers && !answer_given_q;
  assign completion_open    = head.completes && !completion_given_q;
  assign answer_valid_o     = due && answer_open;
  assign completion_valid_o = due && completion_open;
  assign answer_o           = head.answer;
  assign completion_o       = head.completion;
  assign take               = due && (!answer_open || answer_ready_i)
                                  && (!completion_open || completion_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || take) begin
      answer_given_q     <= 1'b0;
      completion_given_q <= 1'b0;
    end else begin
      if (answer_valid_o && answer_ready_i) answer_given_q <= 1'b1;
      if (completion_valid_o && completion_ready_i) completion_given_q <= 1'b1;
    end
    if (!rst_ni) done_q <= '0;
    else if (done_valid_i) done_q <= done_q + 1'b1;
  end

  dones_in_order: assert property (@(posedge clk_i) disable iff (!rst_ni)
      done_valid_i |-> done_q != asked_i && done_i.tag == 16'(done_q))
  else $error("a write is done that was not next");

endmodule

`default_nettype wire
