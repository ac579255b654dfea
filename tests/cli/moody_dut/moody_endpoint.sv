// SPDX-License-Identifier: BSD-2-Clause
//
// The reference endpoint with two moods: it refuses every SEND, and never tells
// that a WRITE with immediate is complete.

`default_nettype none

module moody_endpoint
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

  work_request_t wr;
  logic          silent_q, inner_cpl_valid;

  always_comb begin
    wr = wr_i;
    if (wr_i.operation == OpSend) wr.operation = operation_e'(8'hEE);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) silent_q <= 1'b0;
    else if (wr_valid_i && wr_ready_o) silent_q <= wr_i.operation == OpWriteImm;
  end

  assign cpl_valid_o = inner_cpl_valid && !silent_q;

  roce_endpoint #(
    .DataWidth(DataWidth),
    .ClockPs(ClockPs)
  ) u_endpoint (
    .wr_i       (wr),
    .cpl_valid_o(inner_cpl_valid),
    .cpl_ready_i(cpl_ready_i || silent_q),
    .*
  );

endmodule

`default_nettype wire
