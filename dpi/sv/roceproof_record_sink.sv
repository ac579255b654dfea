// SPDX-License-Identifier: BSD-2-Clause
//
// Records out of the DUT, handed to C unread. Stops taking while the host is
// behind, until the next wake: none is lost. What is offered has to stay.

`default_nettype none

module roceproof_record_sink
  import roceproof_bridge_pkg::*;
#(
  parameter int          Index  = 0,
  parameter int          Stream = StreamCompletion,
  parameter string       Name   = "cpl",
  parameter int unsigned Width  = 128,
  parameter int unsigned Wait   = 0     // cycles that every offer waits, 3 at most
) (
  input  wire logic             clk_i,
  input  wire logic             rst_ni,
  input  wire logic [63:0]      seed_i,
  input  wire cycle_t           cycle_i,
  input  wire logic             wake_i,
  input  wire logic [7:0]       stall_i,  // percent
  output logic                  poll_o,
  input  wire logic             valid_i,
  input  wire logic [Width-1:0] record_i,
  output logic                  ready_o
);

  logic       full_q;
  logic [1:0] waited_q;

  logic open;
  assign ready_o = open && !full_q && 32'(waited_q) == Wait;

  always_ff @(posedge clk_i) begin
    if (!valid_i || ready_o) waited_q <= '0;
    else if (32'(waited_q) != Wait) waited_q <= waited_q + 2'd1;
  end

  roceproof_gate #(
    .Stream(Stream)
  ) u_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(stall_i),
    .draw_i   (1'b1),
    .open_o   (open)
  );

  roceproof_offer_check #(
    .Index(Index),
    .Name (Name),
    .Width(Width)
  ) u_check (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_i(ready_o),
    .data_i (record_i),
    .marks_i(1'b0)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      poll_o <= 1'b0;
    end else begin
      poll_o <= 1'b0;
      if (wake_i) full_q <= 1'b0;
      if (valid_i && ready_o) begin
        automatic put_answer_t answer;
        answer = roceproof_put_record(port[Index], Stream, cycle_i, 256'(record_i));
        full_q <= answer.full;
        poll_o <= answer.poll;
      end
    end
  end

endmodule

`default_nettype wire
