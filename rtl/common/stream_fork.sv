// SPDX-License-Identifier: BSD-2-Clause
//
// Hands each item of a stream to two takers, each once, in whatever order they
// are ready. The item is taken when both have it.

`default_nettype none

module stream_fork (
  input  wire logic clk_i,
  input  wire logic rst_ni,
  input  wire logic s_valid_i,
  output      logic s_ready_o,
  output      logic a_valid_o,
  input  wire logic a_ready_i,
  output      logic b_valid_o,
  input  wire logic b_ready_i
);

  logic a_has_q, b_has_q;

  assign a_valid_o = s_valid_i && !a_has_q;
  assign b_valid_o = s_valid_i && !b_has_q;
  assign s_ready_o = (a_has_q || a_ready_i) && (b_has_q || b_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (s_valid_i && s_ready_o)) begin
      a_has_q <= 1'b0;
      b_has_q <= 1'b0;
    end else begin
      if (a_valid_o && a_ready_i) a_has_q <= 1'b1;
      if (b_valid_o && b_ready_i) b_has_q <= 1'b1;
    end
  end

endmodule

`default_nettype wire
