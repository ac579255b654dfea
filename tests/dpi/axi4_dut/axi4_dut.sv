// SPDX-License-Identifier: BSD-2-Clause
//
// The reference endpoint with its memory behind an AXI4 bus, to try axi4_memory with.

`default_nettype none

module axi4_dut
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
  output logic [DataWidth-1:0]        tx_tdata_o,
  output logic [DataWidth/8-1:0]      tx_tkeep_o,
  output logic                        tx_tvalid_o,
  output logic                        tx_tlast_o,
  output logic                        tx_tuser_o,
  input  wire logic                   tx_tready_i,
  input  wire logic [DataWidth-1:0]   rx_tdata_i,
  input  wire logic [DataWidth/8-1:0] rx_tkeep_i,
  input  wire logic                   rx_tvalid_i,
  input  wire logic                   rx_tlast_i,
  input  wire logic                   rx_tuser_i,
  output logic                        rx_tready_o,
  input  wire logic                   mr_valid_i,
  output logic                        mr_ready_o,
  input  wire memory_region_t         mr_i,
  input  wire logic                   rcv_valid_i,
  output logic                        rcv_ready_o,
  input  wire receive_t               rcv_i,
  output logic                        rcp_valid_o,
  input  wire logic                   rcp_ready_i,
  output receive_completion_t         rcp_o,
  output logic                        mwc_valid_o,
  input  wire logic                   mwc_ready_i,
  output memory_command_t             mwc_o,
  output logic [DataWidth-1:0]        mwd_tdata_o,
  output logic [DataWidth/8-1:0]      mwd_tkeep_o,
  output logic                        mwd_tvalid_o,
  output logic                        mwd_tlast_o,
  input  wire logic                   mwd_tready_i,
  input  wire logic                   mdn_valid_i,
  input  wire memory_done_t           mdn_i,
  output logic                        mrc_valid_o,
  input  wire logic                   mrc_ready_i,
  output memory_command_t             mrc_o,
  input  wire logic [DataWidth-1:0]   mrd_tdata_i,
  input  wire logic [DataWidth/8-1:0] mrd_tkeep_i,
  input  wire logic                   mrd_tvalid_i,
  input  wire logic                   mrd_tlast_i,
  output logic                        mrd_tready_o
);

  logic            mwc_valid, mwc_ready, mwd_tvalid, mwd_tlast, mwd_tready, mdn_valid;
  logic            mrc_valid, mrc_ready, mrd_tvalid, mrd_tlast, mrd_tready;
  memory_command_t mwc, mrc;
  memory_done_t    mdn;
  logic [63:0]     mwd_tdata, mrd_tdata;
  logic [7:0]      mwd_tkeep, mrd_tkeep;

  logic [3:0]  awid, bid, rid;
  logic [63:0] awaddr, wdata, araddr, rdata;
  logic [7:0]  awlen, wstrb, arlen;
  logic [1:0]  bresp, rresp;
  logic        awvalid, awready, wlast, wvalid, wready, bvalid, arvalid, arready, rlast, rvalid;

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
    .cpl_valid_o,
    .cpl_ready_i,
    .cpl_o,
    .tx_tdata_o,
    .tx_tkeep_o,
    .tx_tvalid_o,
    .tx_tlast_o,
    .tx_tuser_o,
    .tx_tready_i,
    .rx_tdata_i,
    .rx_tkeep_i,
    .rx_tvalid_i,
    .rx_tlast_i,
    .rx_tuser_i,
    .rx_tready_o,
    .mr_valid_i,
    .mr_ready_o,
    .mr_i,
    .rcv_valid_i,
    .rcv_ready_o,
    .rcv_i,
    .rcp_valid_o,
    .rcp_ready_i,
    .rcp_o,
    .mwc_valid_o(mwc_valid),
    .mwc_ready_i(mwc_ready),
    .mwc_o(mwc),
    .mwd_tdata_o(mwd_tdata),
    .mwd_tkeep_o(mwd_tkeep),
    .mwd_tvalid_o(mwd_tvalid),
    .mwd_tlast_o(mwd_tlast),
    .mwd_tready_i(mwd_tready),
    .mdn_valid_i(mdn_valid),
    .mdn_i(mdn),
    .mrc_valid_o(mrc_valid),
    .mrc_ready_i(mrc_ready),
    .mrc_o(mrc),
    .mrd_tdata_i(mrd_tdata),
    .mrd_tkeep_i(mrd_tkeep),
    .mrd_tvalid_i(mrd_tvalid),
    .mrd_tlast_i(mrd_tlast),
    .mrd_tready_o(mrd_tready)
  );

  axi4_streams u_streams (
    .clk_i,
    .rst_ni,
    .mwc_valid_i(mwc_valid),
    .mwc_ready_o(mwc_ready),
    .mwc_i(mwc),
    .mwd_tdata_i(mwd_tdata),
    .mwd_tkeep_i(mwd_tkeep),
    .mwd_tvalid_i(mwd_tvalid),
    .mwd_tready_o(mwd_tready),
    .mdn_valid_o(mdn_valid),
    .mdn_o(mdn),
    .mrc_valid_i(mrc_valid),
    .mrc_ready_o(mrc_ready),
    .mrc_i(mrc),
    .mrd_tdata_o(mrd_tdata),
    .mrd_tkeep_o(mrd_tkeep),
    .mrd_tvalid_o(mrd_tvalid),
    .mrd_tlast_o(mrd_tlast),
    .mrd_tready_i(mrd_tready),
    .awid_o(awid),
    .awaddr_o(awaddr),
    .awlen_o(awlen),
    .awvalid_o(awvalid),
    .awready_i(awready),
    .wdata_o(wdata),
    .wstrb_o(wstrb),
    .wlast_o(wlast),
    .wvalid_o(wvalid),
    .wready_i(wready),
    .bvalid_i(bvalid),
    .araddr_o(araddr),
    .arlen_o(arlen),
    .arvalid_o(arvalid),
    .arready_i(arready),
    .rdata_i(rdata),
    .rvalid_i(rvalid)
  );

  axi4_memory #(
    .MostBeats(16)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .s_awid_i(awid),
    .s_awaddr_i(awaddr),
    .s_awlen_i(awlen),
    .s_awsize_i(3'd3),
    .s_awburst_i(2'b01),
    .s_awvalid_i(awvalid),
    .s_awready_o(awready),
    .s_wdata_i(wdata),
    .s_wstrb_i(wstrb),
    .s_wlast_i(wlast),
    .s_wvalid_i(wvalid),
    .s_wready_o(wready),
    .s_bid_o(bid),
    .s_bresp_o(bresp),
    .s_bvalid_o(bvalid),
    .s_bready_i(1'b1),
    .s_arid_i(4'd0),
    .s_araddr_i(araddr),
    .s_arlen_i(arlen),
    .s_arsize_i(3'd3),
    .s_arburst_i(2'b01),
    .s_arvalid_i(arvalid),
    .s_arready_o(arready),
    .s_rid_o(rid),
    .s_rdata_o(rdata),
    .s_rresp_o(rresp),
    .s_rlast_o(rlast),
    .s_rvalid_o(rvalid),
    .s_rready_i(1'b1),
    .mwc_valid_o,
    .mwc_ready_i,
    .mwc_o,
    .mwd_tdata_o,
    .mwd_tkeep_o,
    .mwd_tvalid_o,
    .mwd_tlast_o,
    .mwd_tready_i,
    .mdn_valid_i,
    .mdn_i,
    .mrc_valid_o,
    .mrc_ready_i,
    .mrc_o,
    .mrd_tdata_i,
    .mrd_tkeep_i,
    .mrd_tvalid_i,
    .mrd_tlast_i,
    .mrd_tready_o
  );

  logic unused;
  assign unused = ^{bid, bresp, rid, rresp, rlast, mwd_tlast};

endmodule

`default_nettype wire
