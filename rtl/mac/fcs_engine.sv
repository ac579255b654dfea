// SPDX-License-Identifier: BSD-2-Clause
//
// The CRC-32 register of Ethernet over the beats of a frame, from all ones on.
// Bytes that are not kept count as zeros behind the frame. crc_o holds a beat,
// and all before it of its frame, two cycles after that was valid, and stays
// until the next.

`default_nettype none

module fcs_engine (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        valid_i,
  input  wire logic        first_i,
  input  wire logic [63:0] data_i,
  input  wire logic [7:0]  keep_i,
  output logic      [31:0] crc_o
);

  logic [63:0] kept;
  logic [31:0] word;
  logic        valid_q, first_q;

  // To begin with ones is to invert the first 32 bits.
  always_comb begin
    for (int unsigned lane = 0; lane < 8; lane++) begin
      kept[8*lane+:8] = keep_i[lane] ? data_i[8*lane+:8] : '0;
    end
    if (first_i) kept[31:0] = ~kept[31:0];
  end

  crc32_word #(
    .DataWidth(64)
  ) u_word (
    .clk_i,
    .enable_i(valid_i),
    .data_i  (kept),
    .word_o  (word)
  );

  crc32_accumulate #(
    .DataWidth(64)
  ) u_accumulate (
    .clk_i,
    .enable_i(valid_q),
    .first_i (first_q),
    .word_i  (word),
    .crc_o
  );

  always_ff @(posedge clk_i) begin
    first_q <= first_i;
    valid_q <= valid_i && rst_ni;
  end

endmodule

`default_nettype wire
