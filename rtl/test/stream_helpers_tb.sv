// SPDX-License-Identifier: BSD-2-Clause
//
// The stream helpers in a row: frames that begin in any lane are aligned, cut
// into bytes, made wide again and padded. Plays the frames of +helpers_in= and
// wants those of +helpers_out=. Prints PASS, or ends with an error.

`default_nettype none

module stream_helpers_tb #(
  parameter int unsigned DataWidth = 64
);

  localparam int unsigned Lanes = DataWidth / 8;
  localparam int DeadlineCycles = 400_000;
  localparam int DrainCycles = 200;

  logic clk;
  logic rst_n = 1'b0;
  logic done;
  int   errors;

  initial begin
    clk = 1'b0;
    forever #5 clk = !clk;
  end

  // Stage 0 comes from the file; 1 begins in any lane; 2 is aligned; 4 is wide again; 5 padded.
  logic [DataWidth-1:0] data  [6];
  logic [Lanes-1:0]     keep  [6];
  logic                 valid [6], last [6], user [6], ready [6];
  logic [7:0]           byte_data;
  logic                 byte_keep, byte_valid, byte_last, byte_user, byte_ready;
  logic [13:0]          offset;

  frame_source #(.DataWidth(DataWidth), .Plusarg("helpers_in")) u_source (
    .clk_i(clk), .rst_ni(rst_n), .tdata_o(data[0]), .tkeep_o(keep[0]), .tvalid_o(valid[0]),
    .tlast_o(last[0]), .tuser_o(user[0]), .sideband_o(offset), .tready_i(ready[0]));

  lane_offset #(.DataWidth(DataWidth)) u_offset (
    .clk_i(clk), .rst_ni(rst_n), .s_tdata_i(data[0]), .s_tkeep_i(keep[0]),
    .s_tvalid_i(valid[0]), .s_tlast_i(last[0]), .s_offset_i(offset[$clog2(Lanes)-1:0]), .s_tready_o(ready[0]),
    .m_tdata_o(data[1]), .m_tkeep_o(keep[1]), .m_tvalid_o(valid[1]), .m_tlast_o(last[1]),
    .m_tready_i(ready[1]));
  assign user[1] = 1'b0;

  stream_gearbox #(.InLanes(Lanes), .OutLanes(Lanes)) u_aligner (
    .clk_i(clk), .rst_ni(rst_n), .s_tdata_i(data[1]), .s_tkeep_i(keep[1]),
    .s_tvalid_i(valid[1]), .s_tlast_i(last[1]), .s_tuser_i(user[1]), .s_tready_o(ready[1]),
    .m_tdata_o(data[2]), .m_tkeep_o(keep[2]), .m_tvalid_o(valid[2]), .m_tlast_o(last[2]),
    .m_tuser_o(user[2]), .m_tready_i(ready[2]));

  stream_gearbox #(.InLanes(Lanes), .OutLanes(1)) u_narrow (
    .clk_i(clk), .rst_ni(rst_n), .s_tdata_i(data[2]), .s_tkeep_i(keep[2]),
    .s_tvalid_i(valid[2]), .s_tlast_i(last[2]), .s_tuser_i(user[2]), .s_tready_o(ready[2]),
    .m_tdata_o(byte_data), .m_tkeep_o(byte_keep), .m_tvalid_o(byte_valid),
    .m_tlast_o(byte_last), .m_tuser_o(byte_user), .m_tready_i(byte_ready));

  stream_gearbox #(.InLanes(1), .OutLanes(Lanes)) u_wide (
    .clk_i(clk), .rst_ni(rst_n), .s_tdata_i(byte_data), .s_tkeep_i(byte_keep),
    .s_tvalid_i(byte_valid), .s_tlast_i(byte_last), .s_tuser_i(byte_user),
    .s_tready_o(byte_ready),
    .m_tdata_o(data[4]), .m_tkeep_o(keep[4]), .m_tvalid_o(valid[4]), .m_tlast_o(last[4]),
    .m_tuser_o(user[4]), .m_tready_i(ready[4]));

  frame_padder #(.DataWidth(DataWidth)) u_padder (
    .clk_i(clk), .rst_ni(rst_n), .s_tdata_i(data[4]), .s_tkeep_i(keep[4]),
    .s_tvalid_i(valid[4]), .s_tlast_i(last[4]), .s_tuser_i(user[4]), .s_tready_o(ready[4]),
    .m_tdata_o(data[5]), .m_tkeep_o(keep[5]), .m_tvalid_o(valid[5]), .m_tlast_o(last[5]),
    .m_tuser_o(user[5]), .m_tready_i(ready[5]));

  frame_sink #(.DataWidth(DataWidth), .Plusarg("helpers_out")) u_sink (
    .clk_i(clk), .rst_ni(rst_n), .tdata_i(data[5]), .tkeep_i(keep[5]), .tvalid_i(valid[5]),
    .tlast_i(last[5]), .tready_o(ready[5]), .done_o(done), .errors_o(errors));

  initial begin
    repeat (4) @(posedge clk);
    rst_n = 1'b1;
    for (int cycle = 0; !done && cycle < DeadlineCycles; cycle++) @(posedge clk);
    repeat (DrainCycles) @(posedge clk);
    if (!done) $fatal(1, "FAIL: output missing after %0d cycles", DeadlineCycles);
    if (errors != 0) $fatal(1, "FAIL: %0d errors", errors);
    $display("PASS");
    $finish;
  end

endmodule

`default_nettype wire
