// SPDX-License-Identifier: BSD-2-Clause
//
// The reference endpoint behind a MAC with XGMII, to try that wire with.

`default_nettype none

module xgmii_dut
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400
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

  logic [DataWidth-1:0]   tx_tdata, rx_tdata;
  logic [DataWidth/8-1:0] tx_tkeep, rx_tkeep;
  logic                   tx_tvalid, tx_tlast, tx_tuser, tx_tready;
  logic                   rx_tvalid, rx_tlast, rx_tready;
  logic                   hold, done, done_ready;
  completion_t            completion;
  int                     taken, left;

  roce_endpoint #(
    .DataWidth(DataWidth),
    .ClockPs  (ClockPs)
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
    .cpl_valid_o(done),
    .cpl_ready_i(done_ready),
    .cpl_o      (completion),
    .tx_tdata_o (tx_tdata),
    .tx_tkeep_o (tx_tkeep),
    .tx_tvalid_o(tx_tvalid),
    .tx_tlast_o (tx_tlast),
    .tx_tuser_o (tx_tuser),
    .tx_tready_i(tx_tready),
    .rx_tdata_i (rx_tdata),
    .rx_tkeep_i (rx_tkeep),
    .rx_tvalid_i(rx_tvalid),
    .rx_tlast_i (rx_tlast),
    .rx_tuser_i (1'b0),
    .rx_tready_o(rx_tready)
  );

  logic unused;
  assign unused = tx_tuser;

  xgmii_mac_tx u_tx (
    .clk_i,
    .rst_ni,
    .hold_i  (hold),
    .tdata_i (tx_tdata),
    .tkeep_i (tx_tkeep),
    .tvalid_i(tx_tvalid),
    .tlast_i (tx_tlast),
    .tready_o(tx_tready),
    .txd_o   (xgmii_txd_o),
    .txc_o   (xgmii_txc_o),
    .taken_o (taken),
    .left_o  (left)
  );

  xgmii_mac_rx u_rx (
    .clk_i,
    .rst_ni,
    .rxd_i   (xgmii_rxd_i),
    .rxc_i   (xgmii_rxc_i),
    .hold_o  (hold),
    .tdata_o (rx_tdata),
    .tkeep_o (rx_tkeep),
    .tvalid_o(rx_tvalid),
    .tlast_o (rx_tlast),
    .tready_i(rx_tready)
  );

  // The endpoint says that it is done when the MAC has the frame; here it waits until that has left.
  logic        held_q;
  completion_t held_completion_q;
  int          frame_q;

  assign done_ready  = !held_q || (cpl_valid_o && cpl_ready_i);
  assign cpl_valid_o = held_q && left - frame_q >= 0;
  assign cpl_o       = held_completion_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q <= 1'b0;
    end else if (done_ready) begin
      held_q            <= done;
      held_completion_q <= completion;
      frame_q           <= taken;
    end
  end

endmodule

`default_nettype wire
