// SPDX-License-Identifier: BSD-2-Clause
//
// A wrapper to be filled in, stream by stream: docs/dut-contract.md has the
// rules, examples/uc_writer a whole one. As it stands it takes nothing and
// sends nothing, and `roceproof gate` says which stream is missing next.
`ifdef ROCEPROOF_RESPONDER
// docs/bring-your-own-responder.md goes through the streams from 7 on.
`endif

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
`ifdef ROCEPROOF_RESPONDER
  input  wire logic                   rcv_valid_i,
  output logic                        rcv_ready_o,
  input  wire receive_t               rcv_i,
  output logic                        rcp_valid_o,
  input  wire logic                   rcp_ready_i,
  output receive_completion_t         rcp_o,
`ifndef ROCEPROOF_STATIC_KEYS
  input  wire logic                   mr_valid_i,
  output logic                        mr_ready_o,
  input  wire memory_region_t         mr_i,
`endif
`ifndef ROCEPROOF_BACKDOOR
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
`endif
`ifdef ROCEPROOF_MEMORY_READS
  output logic                        mrc_valid_o,
  input  wire logic                   mrc_ready_i,
  output memory_command_t             mrc_o,
  input  wire logic [DataWidth-1:0]   mrd_tdata_i,
  input  wire logic [DataWidth/8-1:0] mrd_tkeep_i,
  input  wire logic                   mrd_tvalid_i,
  input  wire logic                   mrd_tlast_i,
  output logic                        mrd_tready_o,
`endif
`ifdef ROCEPROOF_CM
  output logic                        cme_valid_o,
  input  wire logic                   cme_ready_i,
  output connection_event_t           cme_o,
`endif
`endif
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
`ifdef ROCEPROOF_RESPONDER

  // 7. Receives are posted, in order, for the SENDs of queue pair rcv_i.qpn. The
  //    stream may wait while a queue is full. Neither SEND nor WRITE_IMM: tie it high.
  assign rcv_ready_o = 1'b0;

  // 8. Each receive ends once, in order, when its bytes are in memory or the
  //    queue pair has failed (StatusWrFlushErr); QpReset forgets it. None: 0.
  assign rcp_valid_o = 1'b0;
  assign rcp_o       = '0;
`ifndef ROCEPROOF_STATIC_KEYS

  // 9. Memory regions and their keys are told: rkey, lkey, va, length, base.
  assign mr_ready_o = 1'b0;
`endif
`ifndef ROCEPROOF_BACKDOOR

  // 10. Bytes for memory: a command and one packet of data each; done comes back
  //     with its tag. Address is base + n for byte va + n, the first byte in lane 0.
  assign mwc_valid_o  = 1'b0;
  assign mwc_o        = '0;
  assign mwd_tdata_o  = '0;
  assign mwd_tkeep_o  = '0;
  assign mwd_tvalid_o = 1'b0;
  assign mwd_tlast_o  = 1'b0;
`else

  // 10. The core's memory: name its array as `backdoor` in dut.toml, with the
  //     instances on the way (u_core.u_ram.bytes), and this one goes.
  logic [7:0] memory_q [4096];
  initial memory_q = '{default: '0};
`endif
`ifdef ROCEPROOF_MEMORY_READS

  // 11. Bytes from memory: commands, and a packet of data for each, in order.
  assign mrc_valid_o  = 1'b0;
  assign mrc_o        = '0;
  assign mrd_tready_o = 1'b0;
`endif
`ifdef ROCEPROOF_CM

  // 12. Steps of a connection, each once and in order: answered (before the
  //     peer's first request is taken), established, ended.
  assign cme_valid_o = 1'b0;
  assign cme_o       = '0;
`endif
`endif

  // What is used above goes from here, and at last all of it.
  logic unused;
  assign unused = &{1'b0, clk_i, rst_ni, port_mac_i, port_gid_i, qpc_valid_i, qpc_i, wr_valid_i,
                    wr_i, pl_tdata_i, pl_tkeep_i, pl_tvalid_i, pl_tlast_i, cpl_ready_i,
                    tx_tready_i, rx_tdata_i, rx_tkeep_i, rx_tvalid_i, rx_tlast_i, rx_tuser_i,
`ifdef ROCEPROOF_RESPONDER
                    rcv_valid_i, rcv_i, rcp_ready_i,
`ifndef ROCEPROOF_STATIC_KEYS
                    mr_valid_i, mr_i,
`endif
`ifndef ROCEPROOF_BACKDOOR
                    mwc_ready_i, mwd_tready_i, mdn_valid_i, mdn_i,
`else
                    memory_q[0],
`endif
`ifdef ROCEPROOF_MEMORY_READS
                    mrc_ready_i, mrd_tdata_i, mrd_tkeep_i, mrd_tvalid_i, mrd_tlast_i,
`endif
`ifdef ROCEPROOF_CM
                    cme_ready_i,
`endif
`endif
                    ClockPs[0]};

endmodule

`default_nettype wire
