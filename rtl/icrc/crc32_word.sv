// SPDX-License-Identifier: BSD-2-Clause
//
// The CRC-32 register that one whole beat leaves behind when it meets a
// register of zero. One register stage; word_o keeps its value while enable_i
// is low.

`default_nettype none

module crc32_word #(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                 clk_i,
  input  wire logic                 enable_i,
  input  wire logic [DataWidth-1:0] data_i,
  output      logic [31:0]          word_o
);

  function automatic logic [31:0] word_of(logic [DataWidth-1:0] data);
    for (int unsigned j = 0; j < 32; j++) begin
      word_of[j] = ^(data & crc32_matrix_pkg::CrcRow[j][1023-:DataWidth]);
    end
  endfunction

  always_ff @(posedge clk_i) begin
    if (enable_i) word_o <= word_of(data_i);
  end

endmodule

`default_nettype wire
