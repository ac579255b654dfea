// SPDX-License-Identifier: BSD-2-Clause
//
// The receive queue: receives wait in the order in which they were posted. When
// told to flush, each that waits, and each that comes, is given back at once.

`default_nettype none

module be_receives
  import be_pkg::*;
#(
  parameter int Depth = 16
) (
  input  wire logic     clk_i,
  input  wire logic     rst_ni,
  input  wire logic     clear_i,   // forget all
  input  wire logic     flush_i,
  input  wire logic     valid_i,
  output logic          ready_o,
  input  wire waiting_t receive_i,
  output logic          valid_o,
  output waiting_t      head_o,
  input  wire logic     take_i,
  output logic          flushes_o, // the head is given back
  input  wire logic     flushed_i
);

  localparam int Bits = $clog2(Depth);

  waiting_t        waiting_q [Depth];
  logic [Bits-1:0] first_q;
  logic [Bits:0]   count_q;

  assign ready_o   = count_q != (Bits + 1)'(Depth);
  assign valid_o   = count_q != 0;
  assign head_o    = waiting_q[first_q];
  assign flushes_o = flush_i && valid_o;

  logic comes, goes;
  assign comes = valid_i && ready_o;
  assign goes  = take_i || (flushes_o && flushed_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      first_q <= '0;
      count_q <= '0;
    end else begin
      if (comes) waiting_q[first_q + count_q[Bits-1:0]] <= receive_i;
      if (goes) first_q <= first_q + Bits'(1);
      count_q <= count_q + (Bits + 1)'(comes) - (Bits + 1)'(goes);
    end
  end

endmodule

`default_nettype wire
