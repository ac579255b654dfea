// SPDX-License-Identifier: BSD-2-Clause
//
// frame_mux at one width: frames of +mux_a= and +mux_b= must leave as those of
// +mux_out=.

`default_nettype none

module frame_mux_bench #(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic clk_i,
  input  wire logic rst_ni,
  output      logic done_o,
  output      int   errors_o
);

  logic [DataWidth-1:0]   a_tdata, b_tdata, m_tdata;
  logic [DataWidth/8-1:0] a_tkeep, b_tkeep, m_tkeep;
  logic                   a_tvalid, a_tlast, a_tready, b_tvalid, b_tlast, b_tready;
  logic                   m_tvalid, m_tlast, m_tready;

  frame_source #(.DataWidth(DataWidth), .Plusarg("mux_a")) u_a (
    .clk_i, .rst_ni, .tdata_o(a_tdata), .tkeep_o(a_tkeep), .tvalid_o(a_tvalid),
    .tlast_o(a_tlast), .tuser_o(), .sideband_o(), .tready_i(a_tready));

  frame_source #(.DataWidth(DataWidth), .Plusarg("mux_b")) u_b (
    .clk_i, .rst_ni, .tdata_o(b_tdata), .tkeep_o(b_tkeep), .tvalid_o(b_tvalid),
    .tlast_o(b_tlast), .tuser_o(), .sideband_o(), .tready_i(b_tready));

  frame_mux #(.DataWidth(DataWidth)) u_dut (
    .clk_i, .rst_ni,
    .a_tdata_i(a_tdata), .a_tkeep_i(a_tkeep), .a_tvalid_i(a_tvalid), .a_tlast_i(a_tlast),
    .a_tag_i('0), .a_tready_o(a_tready), .a_left_o(),
    .b_tdata_i(b_tdata), .b_tkeep_i(b_tkeep), .b_tvalid_i(b_tvalid), .b_tlast_i(b_tlast),
    .b_tag_i('0), .b_tready_o(b_tready),
    .m_tdata_o(m_tdata), .m_tkeep_o(m_tkeep), .m_tvalid_o(m_tvalid), .m_tlast_o(m_tlast),
    .m_tag_o(), .m_from_a_o(), .m_tready_i(m_tready));

  frame_sink #(.DataWidth(DataWidth), .Plusarg("mux_out")) u_sink (
    .clk_i, .rst_ni, .tdata_i(m_tdata), .tkeep_i(m_tkeep), .tvalid_i(m_tvalid),
    .tlast_i(m_tlast), .tready_o(m_tready), .done_o, .errors_o);

endmodule

`default_nettype wire
