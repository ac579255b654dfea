// SPDX-License-Identifier: BSD-2-Clause
//
// icrc_check (behind rx_window) at one width: frames of +check_in= must give
// the verdicts of +check_out=, each as a frame of one byte {is_roce, ok}.

`default_nettype none

module icrc_check_bench #(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic clk_i,
  input  wire logic rst_ni,
  output      logic done_o,
  output      int   errors_o
);

  localparam int unsigned BeatBits = 16 - $clog2(DataWidth / 8);
  localparam int unsigned MaxFrames = 4096;

  logic [DataWidth-1:0]   tdata, data;
  logic [DataWidth/8-1:0] tkeep;
  logic                   tvalid, tlast, tuser, valid, last, discard;
  logic [BeatBits-1:0]    beat;
  rx_header_pkg::window_t window;
  icrc_pkg::position_t    length;
  logic                   verdict_valid, is_roce, ok, verdict_room;
  logic [7:0]             verdict;
  logic                   m_tvalid, m_tready;

  frame_source #(.DataWidth(DataWidth), .Plusarg("check_in")) u_source (
    .clk_i, .rst_ni, .tdata_o(tdata), .tkeep_o(tkeep), .tvalid_o(tvalid), .tlast_o(tlast),
    .tuser_o(tuser), .sideband_o(), .tready_i(1'b1));

  rx_window #(.DataWidth(DataWidth)) u_window (
    .clk_i, .rst_ni, .valid_i(tvalid), .tdata_i(tdata), .tkeep_i(tkeep), .tlast_i(tlast),
    .tuser_i(tuser), .valid_o(valid), .data_o(data), .last_o(last), .beat_o(beat),
    .window_o(window), .length_o(length), .discard_o(discard));

  icrc_check #(.DataWidth(DataWidth)) u_dut (
    .clk_i, .rst_ni, .valid_i(valid), .data_i(data), .last_i(last), .beat_i(beat),
    .window_i(window), .length_i(length), .discard_i(discard),
    .verdict_valid_o(verdict_valid), .is_roce_o(is_roce), .ok_o(ok));

  stream_fifo #(.Width(8), .Depth(MaxFrames)) u_verdicts (
    .clk_i, .rst_ni, .s_data_i({6'b0, is_roce, ok}), .s_valid_i(verdict_valid),
    .s_ready_o(verdict_room), .m_data_o(verdict), .m_valid_o(m_tvalid), .m_ready_i(m_tready));

  frame_sink #(.DataWidth(8), .Plusarg("check_out")) u_sink (
    .clk_i, .rst_ni, .tdata_i(verdict), .tkeep_i(1'b1), .tvalid_i(m_tvalid), .tlast_i(1'b1),
    .tready_o(m_tready), .done_o, .errors_o);

  verdicts_fit: assert property (@(posedge clk_i) disable iff (!rst_ni)
      verdict_valid |-> verdict_room);

endmodule

`default_nettype wire
