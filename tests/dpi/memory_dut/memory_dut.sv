// SPDX-License-Identifier: BSD-2-Clause
//
// Writes 12 bytes to memory once, and does nothing else. +write= chooses what is
// wrong with it: 1 a hole, 2 a beat that is not full before the last, 3 a length of 0.

`default_nettype none

module memory_dut
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
  input  wire memory_done_t           mdn_i
);

  int         fault;
  logic [1:0] beat_q;

  initial if ($value$plusargs("write=%d", fault) == 0) fault = 0;

  assign {qpc_ready_o, wr_ready_o, pl_tready_o, rx_tready_o, mr_ready_o, rcv_ready_o} = '1;
  assign {cpl_valid_o, tx_tvalid_o, tx_tlast_o, tx_tuser_o, rcp_valid_o} = '0;
  assign cpl_o = '0;
  assign rcp_o = '0;
  assign {tx_tdata_o, tx_tkeep_o} = '0;

  assign mwc_valid_o  = rst_ni && beat_q == 0;
  assign mwd_tvalid_o = rst_ni && beat_q < 2;
  assign mwd_tlast_o  = beat_q == 1;
  assign mwd_tdata_o  = 64'h0807_0605_0403_0201;
  assign mwd_tkeep_o  = beat_q == 0 ? (fault == 2 ? 8'h0f : 8'hff) : fault == 1 ? 8'h1b : 8'h0f;
  always_comb begin
    mwc_o        = '0;
    mwc_o.length = fault == 3 ? 32'd0 : 32'd12;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) beat_q <= '0;
    else if (beat_q < 2) beat_q <= beat_q + 2'd1;
  end

endmodule

`default_nettype wire
