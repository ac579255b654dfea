// SPDX-License-Identifier: BSD-2-Clause
//
// rx_path at one width: frames of +rx_in= must give the replies of +rx_reply=
// and the responses of +rx_response=, each as a frame of the record's 26
// bytes, last field first.

`default_nettype none

module rx_path_bench #(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic clk_i,
  input  wire logic rst_ni,
  output      logic done_o,
  output      int   errors_o
);

  localparam logic [47:0]  PortMac = 48'h020000000002;
  localparam logic [127:0] PortGid = {80'h0, 16'hFFFF, 8'd192, 8'd168, 8'd1, 8'd2};
  localparam int unsigned  ResponseBits = $bits(roce_pkg::response_t);

  logic [DataWidth-1:0]    rx_tdata, reply_tdata;
  logic [DataWidth/8-1:0]  rx_tkeep, reply_tkeep;
  logic                    rx_tvalid, rx_tlast, rx_tuser, rx_tready;
  logic                    reply_tvalid, reply_tlast, reply_tready;
  logic                    response_valid, response_ready;
  roce_pkg::response_t     response;
  logic                    replies_done, responses_done;
  int                      reply_errors, response_errors;

  assign done_o   = replies_done && responses_done;
  assign errors_o = reply_errors + response_errors;

  frame_source #(.DataWidth(DataWidth), .Plusarg("rx_in")) u_source (
    .clk_i, .rst_ni, .tdata_o(rx_tdata), .tkeep_o(rx_tkeep), .tvalid_o(rx_tvalid),
    .tlast_o(rx_tlast), .tuser_o(rx_tuser), .sideband_o(), .tready_i(rx_tready));

  rx_path #(.DataWidth(DataWidth)) u_dut (
    .clk_i, .rst_ni, .port_mac_i(PortMac), .port_gid_i(PortGid), .port_ipv6_i('0),
    .rx_tdata_i(rx_tdata), .rx_tkeep_i(rx_tkeep), .rx_tvalid_i(rx_tvalid),
    .rx_tlast_i(rx_tlast), .rx_tuser_i(rx_tuser), .rx_tag_i('0), .rx_tready_o(rx_tready),
    .response_valid_o(response_valid), .response_ready_i(response_ready),
    .response_o(response), .notice_valid_o(), .notice_o(),
    .reply_tdata_o(reply_tdata), .reply_tkeep_o(reply_tkeep), .reply_tvalid_o(reply_tvalid),
    .reply_tlast_o(reply_tlast), .reply_tag_o(), .reply_tready_i(reply_tready),
    .requests_ready_i(1'b1), .frame_taken_o(), .window_valid_o(), .window_data_o(),
    .window_last_o(), .window_beat_o(), .window_o(), .parsed_valid_o(), .parsed_last_o(),
    .kind_o(), .header_o(), .ipv6_o(), .verdict_valid_o(), .icrc_ok_o());

  frame_sink #(.DataWidth(DataWidth), .Plusarg("rx_reply")) u_replies (
    .clk_i, .rst_ni, .tdata_i(reply_tdata), .tkeep_i(reply_tkeep), .tvalid_i(reply_tvalid),
    .tlast_i(reply_tlast), .tready_o(reply_tready), .done_o(replies_done),
    .errors_o(reply_errors));

  frame_sink #(.DataWidth(ResponseBits), .Plusarg("rx_response")) u_responses (
    .clk_i, .rst_ni, .tdata_i(response), .tkeep_i('1), .tvalid_i(response_valid),
    .tlast_i(1'b1), .tready_o(response_ready), .done_o(responses_done),
    .errors_o(response_errors));

endmodule

`default_nettype wire
