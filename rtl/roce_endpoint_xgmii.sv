// SPDX-License-Identifier: BSD-2-Clause
//
// The reference endpoint behind its MAC, with the ports of the DUT contract for
// XGMII (docs/dut-contract.md). A message has left with the Terminate of its
// last frame, and timers start there. It sends no tags, so that its frames are
// of class 0.

`default_nettype none

module roce_endpoint_xgmii
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400,
  parameter int unsigned Qps       = 16,
  parameter int unsigned Recovery  = 0    // what is lost is sent again
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [127:0]           port_gid_i,
  input  wire logic                   qpc_valid_i,
  output logic                        qpc_ready_o,
  input  wire qp_config_t             qpc_i,
  input  wire logic                   wr_valid_i,
  output logic                        wr_ready_o,
  input  wire work_request_t          wr_i,
  input  wire logic [DataWidth-1:0]   pl_tdata_i,
  input  wire logic [DataWidth/8-1:0] pl_tkeep_i,
  input  wire logic                   pl_tvalid_i,
  input  wire logic                   pl_tlast_i,
  output logic                        pl_tready_o,
  output logic                        cpl_valid_o,
  input  wire logic                   cpl_ready_i,
  output completion_t                 cpl_o,
  output logic      [63:0]            xgmii_txd_o,
  output logic      [7:0]             xgmii_txc_o,
  input  wire logic [63:0]            xgmii_rxd_i,
  input  wire logic [7:0]             xgmii_rxc_i
);

  if (DataWidth != 64) begin : gen_bad_width
    $error("DataWidth must be 64");
  end

  logic [63:0] tx_tdata, rx_tdata;
  logic [7:0]  tx_tkeep, rx_tkeep;
  logic        tx_tvalid, tx_tlast, tx_tready, tx_request, tx_left, unused_tx_tuser;
  logic        rx_tvalid, rx_tlast, rx_tready;

  roce_endpoint #(
    .DataWidth(DataWidth),
    .ClockPs  (ClockPs),
    .Qps      (Qps),
    .Recovery (Recovery)
  ) u_endpoint (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_gid_i,
    .qpc_valid_i,
    .qpc_ready_o,
    .qpc_i,
    .wr_valid_i,
    .wr_ready_o,
    .wr_i,
    .pl_tdata_i,
    .pl_tkeep_i,
    .pl_tvalid_i,
    .pl_tlast_i,
    .pl_tready_o,
    .cpl_valid_o,
    .cpl_ready_i,
    .cpl_o,
    .tx_tdata_o  (tx_tdata),
    .tx_tkeep_o  (tx_tkeep),
    .tx_tvalid_o (tx_tvalid),
    .tx_tlast_o  (tx_tlast),
    .tx_tuser_o  (unused_tx_tuser),
    .tx_tready_i (tx_tready),
    .rx_tdata_i  (rx_tdata),
    .rx_tkeep_i  (rx_tkeep),
    .rx_tvalid_i (rx_tvalid),
    .rx_tlast_i  (rx_tlast),
    .rx_tuser_i  (1'b0),
    .rx_tready_o (rx_tready),
    .tx_request_o(tx_request),
    .tx_left_i   (tx_left)
  );

  mac_xgmii u_mac (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .tx_tdata_i (tx_tdata),
    .tx_tkeep_i (tx_tkeep),
    .tx_tvalid_i(tx_tvalid),
    .tx_tlast_i (tx_tlast),
    .tx_mark_i  (tx_request),
    .tx_class_i (3'd0),
    .tx_tready_o(tx_tready),
    .tx_left_o  (tx_left),
    .rx_tdata_o (rx_tdata),
    .rx_tkeep_o (rx_tkeep),
    .rx_tvalid_o(rx_tvalid),
    .rx_tlast_o (rx_tlast),
    .rx_tready_i(rx_tready),
    .xgmii_txd_o,
    .xgmii_txc_o,
    .xgmii_rxd_i,
    .xgmii_rxc_i
  );

endmodule

`default_nettype wire
