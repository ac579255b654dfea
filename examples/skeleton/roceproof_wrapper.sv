// SPDX-License-Identifier: BSD-2-Clause
//
// A wrapper to be filled in, stream by stream: docs/dut-contract.md has the
// rules, examples/uc_writer a whole one. As it stands it takes nothing and
// sends nothing, and `roceproof gate` says which stream is missing next.

`default_nettype none

module roceproof_wrapper
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

  // 1. A queue pair is configured: keep local_qpn, remote_qpn, sq_psn, path_mtu
  //    and the peer's addresses of qpc_i, and give them to the core.
  assign qpc_ready_o = 1'b0;

  // 2. A message is asked for: operation, length, address and key in wr_i.
  assign wr_ready_o = 1'b0;

  // 3. Its payload, from lane wr_i.payload_offset of the first beat on.
  assign pl_tready_o = 1'b0;

  // 4. The core's frames, from the destination MAC on, without FCS, byte 0 in
  //    lane 0, padded to 60 bytes. What is offered stays until it is taken.
  assign tx_tdata_o  = '0;
  assign tx_tkeep_o  = '0;
  assign tx_tvalid_o = 1'b0;
  assign tx_tlast_o  = 1'b0;
  assign tx_tuser_o  = 1'b0;

  // 5. One completion for every work request, those that cannot be done, too:
  //    '{wr_id: ..., qpn: ..., status: StatusSuccess, syndrome: 8'hFF, reserved0: '0}
  assign cpl_valid_o = 1'b0;
  assign cpl_o       = '0;

  // 6. Frames from the wire: ARP and ping are answered, ACKs complete messages.
  assign rx_tready_o = 1'b1;

  // What is used above goes from here, and at last all of it.
  logic unused;
  assign unused = &{1'b0, clk_i, rst_ni, port_mac_i, port_gid_i, qpc_valid_i, qpc_i, wr_valid_i,
                    wr_i, pl_tdata_i, pl_tkeep_i, pl_tvalid_i, pl_tlast_i, cpl_ready_i,
                    tx_tready_i, rx_tdata_i, rx_tkeep_i, rx_tvalid_i, rx_tlast_i, rx_tuser_i,
                    ClockPs[0]};

endmodule

`default_nettype wire
