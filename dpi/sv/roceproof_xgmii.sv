// SPDX-License-Identifier: BSD-2-Clause
//
// A port's frames as XGMII, both ways.

`default_nettype none

module roceproof_xgmii #(
  parameter int Index = 0
) (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [63:0] seed_i,
  input  wire logic [63:0] rx_tdata_i,
  input  wire logic [7:0]  rx_tkeep_i,
  input  wire logic        rx_tvalid_i,
  input  wire logic        rx_tlast_i,
  input  wire logic        rx_tuser_i,
  output logic             rx_tready_o,
  output logic      [63:0] rxd_o,
  output logic      [7:0]  rxc_o,
  input  wire logic [63:0] txd_i,
  input  wire logic [7:0]  txc_i,
  output logic      [63:0] tx_tdata_o,
  output logic      [7:0]  tx_tkeep_o,
  output logic             tx_tvalid_o,
  output logic             tx_tlast_o,
  output logic             tx_tuser_o,
  input  wire logic        tx_tready_i
);

  roceproof_xgmii_source u_source (
    .clk_i,
    .rst_ni,
    .seed_i,
    .tdata_i (rx_tdata_i),
    .tkeep_i (rx_tkeep_i),
    .tvalid_i(rx_tvalid_i),
    .tlast_i (rx_tlast_i),
    .tuser_i (rx_tuser_i),
    .tready_o(rx_tready_o),
    .rxd_o,
    .rxc_o
  );

  roceproof_xgmii_sink #(
    .Index(Index)
  ) u_sink (
    .clk_i,
    .rst_ni,
    .txd_i,
    .txc_i,
    .tdata_o (tx_tdata_o),
    .tkeep_o (tx_tkeep_o),
    .tvalid_o(tx_tvalid_o),
    .tlast_o (tx_tlast_o),
    .tuser_o (tx_tuser_o),
    .tready_i(tx_tready_i)
  );

endmodule

`default_nettype wire
