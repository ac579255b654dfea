// SPDX-License-Identifier: BSD-2-Clause
//
// The memory that peers write to.

`default_nettype none

module be_memory (
  input  wire logic        clk_i,
  input  wire logic        write_i,
  input  wire logic [14:0] address_i,
  input  wire logic [7:0]  byte_i
);

  logic [7:0] bytes_q [32768];

  always_ff @(posedge clk_i) begin
    if (write_i) bytes_q[address_i] <= byte_i;
  end

endmodule

`default_nettype wire
