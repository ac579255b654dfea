// SPDX-License-Identifier: BSD-2-Clause
//
// Merges two streams of completions into one registered stream. Each side's
// order is kept; the first goes before the second.

`default_nettype none

module completion_mux
  import roceproof_dut_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        first_valid_i,
  output logic             first_ready_o,
  input  wire completion_t first_i,
  input  wire logic        second_valid_i,
  output logic             second_ready_o,
  input  wire completion_t second_i,
  output logic             cpl_valid_o,
  input  wire logic        cpl_ready_i,
  output completion_t      cpl_o
);

  assign first_ready_o  = !cpl_valid_o || cpl_ready_i;
  assign second_ready_o = first_ready_o && !first_valid_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cpl_valid_o <= 1'b0;
    end else if (first_ready_o) begin
      cpl_valid_o <= first_valid_i || second_valid_i;
      if (first_valid_i) cpl_o <= first_i;
      else if (second_valid_i) cpl_o <= second_i;
    end
  end

  assert_holds: assert property (@(posedge clk_i) disable iff (!rst_ni)
      cpl_valid_o && !cpl_ready_i |=> cpl_valid_o && $stable(cpl_o))
  else $error("a completion changed while it waited");

endmodule

`default_nettype wire
