// SPDX-License-Identifier: BSD-2-Clause
//
// icrc_insert at one width: frames of +insert_in= (sideband: the slot's
// position) must leave as those of +insert_out=.

`default_nettype none

module icrc_insert_bench #(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic clk_i,
  input  wire logic rst_ni,
  output      logic done_o,
  output      int   errors_o
);

  logic [DataWidth-1:0]   s_tdata, m_tdata;
  logic [DataWidth/8-1:0] s_tkeep, m_tkeep;
  logic                   s_tvalid, s_tlast, s_tready, m_tvalid, m_tlast, m_tready;
  logic                   s_ipv6;
  logic [12:0]            s_icrc_offset;

  frame_source #(.DataWidth(DataWidth), .Plusarg("insert_in")) u_source (
    .clk_i, .rst_ni, .tdata_o(s_tdata), .tkeep_o(s_tkeep), .tvalid_o(s_tvalid),
    .tlast_o(s_tlast), .tuser_o(), .sideband_o({s_ipv6, s_icrc_offset}), .tready_i(s_tready));

  icrc_insert #(.DataWidth(DataWidth)) u_dut (
    .clk_i, .rst_ni,
    .s_tdata_i(s_tdata), .s_tkeep_i(s_tkeep), .s_tvalid_i(s_tvalid), .s_tlast_i(s_tlast),
    .s_tready_o(s_tready), .s_icrc_offset_i({1'b0, s_icrc_offset}), .s_ipv6_i(s_ipv6),
    .s_tag_i('0), .m_tag_o(),
    .m_tdata_o(m_tdata), .m_tkeep_o(m_tkeep), .m_tvalid_o(m_tvalid), .m_tlast_o(m_tlast),
    .m_tready_i(m_tready));

  frame_sink #(.DataWidth(DataWidth), .Plusarg("insert_out")) u_sink (
    .clk_i, .rst_ni, .tdata_i(m_tdata), .tkeep_i(m_tkeep), .tvalid_i(m_tvalid),
    .tlast_i(m_tlast), .tready_o(m_tready), .done_o, .errors_o);

endmodule

`default_nettype wire
