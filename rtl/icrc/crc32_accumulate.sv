// SPDX-License-Identifier: BSD-2-Clause
//
// Folds the words of crc32_word, one per beat, into the CRC-32 register of the
// frame so far: the register moves on by one beat of zeros and takes the word
// in. first_i starts a new frame from a register of zero.

`default_nettype none

module crc32_accumulate #(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic        clk_i,
  input  wire logic        enable_i,
  input  wire logic        first_i,
  input  wire logic [31:0] word_i,
  output      logic [31:0] crc_o
);

  function automatic logic [31:0] advanced(logic [31:0] crc);
    for (int unsigned j = 0; j < 32; j++) begin
      advanced[j] = ^(crc & crc32_matrix_pkg::CrcRow[j][1024-DataWidth+:32]);
    end
  endfunction

  always_ff @(posedge clk_i) begin
    if (enable_i) crc_o <= first_i ? word_i : word_i ^ advanced(crc_o);
  end

endmodule

`default_nettype wire
