// SPDX-License-Identifier: BSD-2-Clause
//
// The reference endpoint with one fault: the last byte of every frame it sends
// has a bit flipped, so that no ICRC is right. A real receiver stays silent.

`default_nettype none

module bad_icrc_endpoint
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
  output logic                        rx_tready_o
);

  logic [DataWidth-1:0] tdata;

  roce_endpoint #(
    .DataWidth(DataWidth),
    .ClockPs(ClockPs)
  ) u_endpoint (
    .tx_tdata_o(tdata),
    .*
  );

  always_comb begin
    tx_tdata_o = tdata;
    for (int unsigned lane = 0; lane < DataWidth / 8; lane++) begin
      if (tx_tlast_o && tx_tkeep_o[lane]) begin
        tx_tdata_o = tdata ^ (DataWidth'(1) << (8 * lane));
      end
    end
  end

endmodule

`default_nettype wire
