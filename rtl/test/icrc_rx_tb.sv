// SPDX-License-Identifier: BSD-2-Clause
//
// Runs the benches of ICRC and VLAN modules and the receive path at one width each,
// those whose files are named by plusargs. Prints PASS, or ends with an error.

`default_nettype none

module icrc_rx_tb #(
  parameter int unsigned DataWidth = 64
);

  localparam int Benches = 5;
  localparam int DeadlineCycles = 400_000;
  localparam int DrainCycles = 6_000;  // long enough for a frame too many to come out

  logic               clk;
  logic               rst_n = 1'b0;
  logic [Benches-1:0] done;
  int                 errors [Benches];
  int                 total = 0;

  initial begin
    clk = 1'b0;
    forever #5 clk = !clk;
  end

  icrc_insert_bench #(.DataWidth(DataWidth)) u_insert (
    .clk_i(clk), .rst_ni(rst_n), .done_o(done[0]), .errors_o(errors[0]));
  icrc_check_bench #(.DataWidth(DataWidth)) u_check (
    .clk_i(clk), .rst_ni(rst_n), .done_o(done[1]), .errors_o(errors[1]));
  rx_path_bench #(.DataWidth(DataWidth)) u_rx_path (
    .clk_i(clk), .rst_ni(rst_n), .done_o(done[2]), .errors_o(errors[2]));
  frame_mux_bench #(.DataWidth(DataWidth)) u_frame_mux (
    .clk_i(clk), .rst_ni(rst_n), .done_o(done[3]), .errors_o(errors[3]));
  vlan_bench #(.DataWidth(DataWidth)) u_vlan (
    .clk_i(clk), .rst_ni(rst_n), .done_o(done[4]), .errors_o(errors[4]));

  initial begin
    repeat (4) @(posedge clk);
    rst_n = 1'b1;
    for (int cycle = 0; done != '1 && cycle < DeadlineCycles; cycle++) @(posedge clk);
    repeat (DrainCycles) @(posedge clk);
    for (int i = 0; i < Benches; i++) total = total + errors[i];
    if (done != '1) $fatal(1, "FAIL: output missing after %0d cycles, done %b", DeadlineCycles,
                           done);
    if (total != 0) $fatal(1, "FAIL: %0d errors", total);
    $display("PASS");
    $finish;
  end

endmodule

`default_nettype wire
