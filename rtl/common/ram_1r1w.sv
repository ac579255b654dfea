// SPDX-License-Identifier: BSD-2-Clause
//
// RAM with one write and one read port. Read data comes one cycle after
// read_i and stays until the next read; a read in the cycle of a write to the
// same word gives the old word, or with Forward the new one. Contents are
// undefined until written.

`default_nettype none

module ram_1r1w #(
  parameter int unsigned Width     = 64,
  parameter int unsigned Words     = 16,
  parameter int unsigned Forward   = 0,
  parameter int unsigned IndexBits = $clog2(Words)
) (
  input  wire logic                 clk_i,
  input  wire logic                 write_i,
  input  wire logic [IndexBits-1:0] write_index_i,
  input  wire logic [Width-1:0]     write_data_i,
  input  wire logic                 read_i,
  input  wire logic [IndexBits-1:0] read_index_i,
  output logic      [Width-1:0]     read_data_o
);

  logic [Width-1:0] words_q[Words];

  always_ff @(posedge clk_i) begin
    if (write_i) words_q[write_index_i] <= write_data_i;
    if (read_i) begin
      read_data_o <= Forward != 0 && write_i && write_index_i == read_index_i
                     ? write_data_i : words_q[read_index_i];
    end
  end

endmodule

`default_nettype wire
