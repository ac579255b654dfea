// SPDX-License-Identifier: BSD-2-Clause
//
// The memory streams of the contract for a core with an AXI4 master: this is
// the subordinate behind its bus. A write's response comes after the dones of
// all that the burst wrote, a read begins when its address is taken. Responses
// of all IDs come in the order of their addresses, reads and writes apart, and
// are always OKAY. Bursts are INCR, of any size of beat and from any address;
// what AXI4 forbids, or this module cannot do, ends the simulation.

`default_nettype none

module axi4_memory
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth   = 64,   // of the contract's streams
  parameter int unsigned BusWidth    = 64,   // of the core's bus: 8 to 1024
  parameter int unsigned AddrWidth   = 64,
  parameter int unsigned IdWidth     = 4,
  parameter int unsigned MostBeats   = 256,  // of a burst that the core may make
  parameter int unsigned Outstanding = 16    // commands, reads and writes apart: a power of two
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,

  input  wire logic [IdWidth-1:0]     s_awid_i,
  input  wire logic [AddrWidth-1:0]   s_awaddr_i,
  input  wire logic [7:0]             s_awlen_i,
  input  wire logic [2:0]             s_awsize_i,
  input  wire logic [1:0]             s_awburst_i,
  input  wire logic                   s_awvalid_i,
  output logic                        s_awready_o,
  input  wire logic [BusWidth-1:0]    s_wdata_i,
  input  wire logic [BusWidth/8-1:0]  s_wstrb_i,
  input  wire logic                   s_wlast_i,
  input  wire logic                   s_wvalid_i,
  output logic                        s_wready_o,
  output logic [IdWidth-1:0]          s_bid_o,
  output logic [1:0]                  s_bresp_o,
  output logic                        s_bvalid_o,
  input  wire logic                   s_bready_i,
  input  wire logic [IdWidth-1:0]     s_arid_i,
  input  wire logic [AddrWidth-1:0]   s_araddr_i,
  input  wire logic [7:0]             s_arlen_i,
  input  wire logic [2:0]             s_arsize_i,
  input  wire logic [1:0]             s_arburst_i,
  input  wire logic                   s_arvalid_i,
  output logic                        s_arready_o,
  output logic [IdWidth-1:0]          s_rid_o,
  output logic [BusWidth-1:0]         s_rdata_o,
  output logic [1:0]                  s_rresp_o,
  output logic                        s_rlast_o,
  output logic                        s_rvalid_o,
  input  wire logic                   s_rready_i,

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

  if (Outstanding < 2 || Outstanding != 2 ** $clog2(Outstanding)) begin : gen_unsupported
    $error("Outstanding is a power of two");
  end

  assign s_bresp_o = 2'b00;
  assign s_rresp_o = 2'b00;

  axi4_write_memory #(
    .DataWidth  (DataWidth),
    .BusWidth   (BusWidth),
    .AddrWidth  (AddrWidth),
    .IdWidth    (IdWidth),
    .Outstanding(Outstanding)
  ) u_write (
    .clk_i,
    .rst_ni,
    .s_awid_i,
    .s_awaddr_i,
    .s_awsize_i,
    .s_awvalid_i,
    .s_awready_o,
    .s_wdata_i,
    .s_wstrb_i,
    .s_wlast_i,
    .s_wvalid_i,
    .s_wready_o,
    .s_bid_o,
    .s_bvalid_o,
    .s_bready_i,
    .mwc_valid_o,
    .mwc_ready_i,
    .mwc_o,
    .mwd_tdata_o,
    .mwd_tkeep_o,
    .mwd_tvalid_o,
    .mwd_tlast_o,
    .mwd_tready_i,
    .mdn_valid_i,
    .mdn_i
  );

  axi4_read_memory #(
    .DataWidth  (DataWidth),
    .BusWidth   (BusWidth),
    .AddrWidth  (AddrWidth),
    .IdWidth    (IdWidth),
    .Outstanding(Outstanding)
  ) u_read (
    .clk_i,
    .rst_ni,
    .s_arid_i,
    .s_araddr_i,
    .s_arlen_i,
    .s_arsize_i,
    .s_arvalid_i,
    .s_arready_o,
    .s_rid_o,
    .s_rdata_o,
    .s_rlast_o,
    .s_rvalid_o,
    .s_rready_i,
    .mrc_valid_o,
    .mrc_ready_i,
    .mrc_o,
    .mrd_tdata_i,
    .mrd_tkeep_i,
    .mrd_tvalid_i,
    .mrd_tlast_i,
    .mrd_tready_o
  );

  axi4_address_check #(
    .Name     ("aw"),
    .BusWidth (BusWidth),
    .AddrWidth(AddrWidth),
    .IdWidth  (IdWidth),
    .MostBeats(MostBeats)
  ) u_aw_check (
    .clk_i,
    .rst_ni,
    .id_i   (s_awid_i),
    .addr_i (s_awaddr_i),
    .len_i  (s_awlen_i),
    .size_i (s_awsize_i),
    .burst_i(s_awburst_i),
    .valid_i(s_awvalid_i),
    .ready_i(s_awready_o)
  );

  axi4_address_check #(
    .Name     ("ar"),
    .BusWidth (BusWidth),
    .AddrWidth(AddrWidth),
    .IdWidth  (IdWidth),
    .MostBeats(MostBeats)
  ) u_ar_check (
    .clk_i,
    .rst_ni,
    .id_i   (s_arid_i),
    .addr_i (s_araddr_i),
    .len_i  (s_arlen_i),
    .size_i (s_arsize_i),
    .burst_i(s_arburst_i),
    .valid_i(s_arvalid_i),
    .ready_i(s_arready_o)
  );

  axi4_write_data_check #(
    .BusWidth (BusWidth),
    .AddrWidth(AddrWidth)
  ) u_w_check (
    .clk_i,
    .rst_ni,
    .begins_i(s_awvalid_i && s_awready_o),
    .addr_i  (s_awaddr_i),
    .len_i   (s_awlen_i),
    .size_i  (s_awsize_i),
    .wdata_i (s_wdata_i),
    .wstrb_i (s_wstrb_i),
    .wlast_i (s_wlast_i),
    .valid_i (s_wvalid_i),
    .ready_i (s_wready_o)
  );

endmodule

`default_nettype wire
