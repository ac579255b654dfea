// SPDX-License-Identifier: BSD-2-Clause
//
// Takes zero_bytes_i trailing zero bytes back out of a CRC-32 register. Stage
// n of the pipeline undoes 2**n bytes, so any count below 2**Stages takes
// Stages cycles, and a new value may enter in every cycle.

`default_nettype none

module crc32_unwind #(
  parameter int unsigned Stages = 3
) (
  input  wire logic              clk_i,
  input  wire logic              rst_ni,

  input  wire logic              valid_i,
  input  wire logic [31:0]       crc_i,
  input  wire logic [Stages-1:0] zero_bytes_i,

  output      logic              valid_o,
  output      logic [31:0]       crc_o
);

  // What enters and what leaves stage n.
  logic [Stages-1:0] valid_d, valid_q;
  logic [31:0]       crc_d  [Stages];
  logic [31:0]       crc_q  [Stages];
  logic [Stages-1:0] left_d [Stages];
  logic [Stages-1:0] left_q [Stages];

  always_comb begin
    valid_d[0] = valid_i;
    crc_d[0]   = crc_i;
    left_d[0]  = zero_bytes_i;
    for (int n = 1; n < int'(Stages); n++) begin
      valid_d[n] = valid_q[n-1];
      crc_d[n]   = crc_q[n-1];
      left_d[n]  = left_q[n-1];
    end
  end

  for (genvar n = 0; n < int'(Stages); n++) begin : gen_stage
    function automatic logic [31:0] undone(logic [31:0] crc);
      for (int unsigned j = 0; j < 32; j++) begin
        undone[j] = ^(crc & crc32_matrix_pkg::UnwindRow[n][j]);
      end
    endfunction

    always_ff @(posedge clk_i) begin
      if (valid_d[n]) begin
        left_q[n] <= left_d[n];
        crc_q[n]  <= left_d[n][n] ? undone(crc_d[n]) : crc_d[n];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= valid_d;
  end

  assign valid_o = valid_q[Stages-1];
  assign crc_o   = crc_q[Stages-1];

endmodule

`default_nettype wire
