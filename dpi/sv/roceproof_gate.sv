// SPDX-License-Identifier: BSD-2-Clause
//
// Flow disturbance: closes for percent_i of the draws, pseudo-randomly. Keeps
// its decision while draw_i is low, whatever happens to percent_i, so that an
// offer is never withdrawn. The generator is a 64-bit xorshift (13, 7, 17).

`default_nettype none

module roceproof_gate #(
  parameter int Stream = 0  // streams of one port share its seed
) (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [63:0] seed_i,     // loaded in reset
  input  wire logic [7:0]  percent_i,  // 0 never closes
  input  wire logic        draw_i,
  output logic             open_o
);

  function automatic logic [63:0] next_state(input logic [63:0] state);
    logic [63:0] x;
    x = state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
  endfunction

  localparam logic [63:0] Golden = 64'h9E3779B97F4A7C15;

  logic [63:0] state_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= (seed_i ^ (Golden * (64'(Stream) + 64'd1))) | 64'd1;  // never zero
      open_o  <= percent_i < 8'd100;  // what stands still does so in reset, too
    end else if (draw_i) begin
      if (percent_i == 8'd0) begin
        open_o <= 1'b1;
      end else begin
        state_q <= next_state(state_q);
        open_o  <= state_q[63:32] % 32'd100 >= 32'(percent_i);
      end
    end
  end

endmodule

`default_nettype wire
