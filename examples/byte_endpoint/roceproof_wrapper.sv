// SPDX-License-Identifier: BSD-2-Clause
//
// byte_endpoint behind the DUT contract: records become the core's fields.

`default_nettype none

module roceproof_wrapper
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 8,
  parameter int unsigned ClockPs   = 8000
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
  input  wire logic                   rcv_valid_i,
  output logic                        rcv_ready_o,
  input  wire receive_t               rcv_i,
  output logic                        rcp_valid_o,
  input  wire logic                   rcp_ready_i,
  output receive_completion_t         rcp_o,
  output logic                        cme_valid_o,
  input  wire logic                   cme_ready_i,
  output connection_event_t           cme_o
);

  if (DataWidth != 8) begin : gen_unsupported
    $error("byte_endpoint's wrapper is 8 bits wide");
  end

  localparam logic [95:0] MappedIpv4 = 96'hFFFF;

  // A configuration that the core can run; any other forgets the queue pair.
  logic supported;
  assign supported = qpc_i.command == QpActivate && qpc_i.service == ServiceRc
                  && qpc_i.path_mtu inside {[Mtu256:Mtu1024]}
                  && qpc_i.remote_gid[127:32] == MappedIpv4;

  logic calls, hangs_up, manages, qp_ready, call_ready;
  assign calls       = qpc_i.command == QpConnect;
  assign hangs_up    = qpc_i.command == QpDisconnect;
  assign manages     = calls || hangs_up;
  assign qpc_ready_o = manages ? call_ready : qp_ready;

  be_pkg::queue_pair_t qp;
  assign qp = '{
    qpn: qpc_i.local_qpn[23:0], remote_qpn: qpc_i.remote_qpn[23:0],
    mac: qpc_i.remote_mac, ip: qpc_i.remote_gid[31:0], sport: qpc_i.udp_sport,
    tos: qpc_i.traffic_class, ttl: qpc_i.hop_limit, ip_id: qpc_i.ip_id, mtu: qpc_i.path_mtu[2:0],
    sq_psn: qpc_i.sq_psn[23:0], rq_psn: qpc_i.rq_psn[23:0], ack_timeout: qpc_i.ack_timeout[4:0],
    rnr_timer: qpc_i.min_rnr_timer[4:0], retries: qpc_i.retry_count[2:0],
    rnr_retries: qpc_i.rnr_retry[2:0], may_write: qpc_i.access.remote_write, may_send: 1'b1
  };

  be_pkg::work_t work;
  assign work = '{
    wr_id: wr_i.wr_id, qpn: wr_i.qpn, operation: wr_i.operation, solicited: wr_i.solicited,
    va: wr_i.remote_addr, rkey: wr_i.rkey, length: wr_i.length, immediate: wr_i.immediate
  };

  be_pkg::sent_t sent;
  assign cpl_o = '{
    wr_id: sent.wr_id, qpn: sent.qpn, status: status_e'(sent.status), syndrome: sent.syndrome,
    reserved0: '0
  };

  be_pkg::received_t received;
  logic [23:0]       received_qpn;
  receive_flags_t    flags;
  assign flags = '{
    reserved: '0, solicited: received.solicited, invalidate: 1'b0, immediate: received.immediate
  };
  assign rcp_o = '{
    wr_id: received.wr_id, qpn: 32'(received_qpn), status: status_e'(received.status), flags: flags,
    byte_len: received.byte_len, immediate: received.value, default: '0
  };
  be_pkg::waiting_t waiting;
  assign waiting = '{
    wr_id: rcv_i.wr_id, key: rcv_i.lkey, address: rcv_i.address, length: rcv_i.length
  };

  logic [7:0]          step;
  be_pkg::queue_pair_t connected;
  assign cme_o = '{
    qpn: 32'(connected.qpn), step: connection_step_e'(step),
    path_mtu: path_mtu_e'(8'(connected.mtu)), remote_qpn: 32'(connected.remote_qpn),
    sq_psn: 32'(connected.sq_psn), rq_psn: 32'(connected.rq_psn),
    udp_sport: connected.sport, ip_id: connected.ip_id, default: '0
  };

  assign tx_tkeep_o = '1;
  assign tx_tuser_o = 1'b0;

  byte_endpoint #(
    .ClockPs(ClockPs)
  ) u_core (
    .clk_i,
    .rst_ni,
    .mac_i        (port_mac_i),
    .ip_i         (port_gid_i[31:0]),
    .qp_valid_i   (qpc_valid_i && !manages),
    .qp_ready_o   (qp_ready),
    .qp_active_i  (supported),
    .qp_i         (qp),
    .call_i       (qpc_valid_i && calls),
    .hang_up_i    (qpc_valid_i && hangs_up),
    .call_ready_o (call_ready),
    .wr_valid_i,
    .wr_ready_o,
    .wr_i         (work),
    .pl_tdata_i,
    .pl_tvalid_i,
    .pl_tlast_i,
    .pl_tready_o,
    .cpl_valid_o,
    .cpl_o        (sent),
    .cpl_ready_i,
    .rcv_valid_i,
    .rcv_ready_o,
    .rcv_qpn_i    (rcv_i.qpn),
    .rcv_i        (waiting),
    .rcp_valid_o,
    .rcp_o        (received),
    .rcp_qpn_o    (received_qpn),
    .rcp_ready_i,
    .event_valid_o(cme_valid_o),
    .event_o      (step),
    .event_qp_o   (connected),
    .event_ready_i(cme_ready_i),
    .rx_tdata_i,
    .rx_tvalid_i,
    .rx_tlast_i,
    .rx_tuser_i,
    .rx_tready_o,
    .tx_tdata_o,
    .tx_tvalid_o,
    .tx_tlast_o,
    .tx_tready_i
  );

endmodule

`default_nettype wire
