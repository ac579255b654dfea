// SPDX-License-Identifier: BSD-2-Clause
//
// Clock and reset for simulators that make their own time. Verilator builds
// use src/main.cpp instead, which does the same faster. Compile with a time
// unit of 1 ps.

`default_nettype none

module roceproof_tb #(
  parameter int          Ports     = 1,
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400
);

  localparam int unsigned ResetCycles = 8;

  logic clk;
  logic rst_n;

  initial begin
    clk = 1'b0;
    forever begin
      #(ClockPs / 2) clk = 1'b1;
      #(ClockPs - ClockPs / 2) clk = 1'b0;
    end
  end

  initial begin
    rst_n = 1'b0;
    repeat (ResetCycles) @(posedge clk);
    rst_n <= 1'b1;
  end

  roceproof_top #(
    .Ports    (Ports),
    .DataWidth(DataWidth),
    .ClockPs  (ClockPs)
  ) u_top (
    .clk_i (clk),
    .rst_ni(rst_n)
  );

endmodule

`default_nettype wire
