// SPDX-License-Identifier: BSD-2-Clause
//
// The ICRC's register, one byte in each cycle. A masked byte counts as ones, as
// the eight in front of the packet do that stand for the missing LRH.

`default_nettype none

module be_icrc (
  input  wire logic        clk_i,
  input  wire logic        clear_i,
  input  wire logic        valid_i,
  input  wire logic        masked_i,
  input  wire logic [7:0]  byte_i,
  output logic      [31:0] crc_o
);

  function automatic logic [31:0] next(input logic [31:0] crc, input logic [7:0] data);
    logic [31:0] value = crc ^ {24'd0, data};
    for (int i = 0; i < 8; i++) value = value[0] ? (value >> 1) ^ 32'hEDB8_8320 : value >> 1;
    return value;
  endfunction

  function automatic logic [31:0] behind_ones();
    logic [31:0] value = '1;
    for (int i = 0; i < 8; i++) value = next(value, 8'hFF);
    return value;
  endfunction

  localparam logic [31:0] Start = behind_ones();

  always_ff @(posedge clk_i) begin
    if (clear_i) crc_o <= Start;
    else if (valid_i) crc_o <= next(crc_o, masked_i ? 8'hFF : byte_i);
  end

endmodule

`default_nettype wire
