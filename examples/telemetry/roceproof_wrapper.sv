// SPDX-License-Identifier: BSD-2-Clause
//
// A measuring station's VHDL behind the DUT contract: one queue pair, one
// message at a time, bytes made wide and back. docs/tutorial.md fills it in.

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

  // 1. The one queue pair is what was configured last, between messages.
  qp_config_t qpc_q;
  logic       active_q, load, is_idle;

  assign qpc_ready_o = is_idle;
  assign load        = qpc_valid_i && qpc_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
    end else if (load) begin
      if (qpc_i.command == QpActivate) begin
        qpc_q    <= qpc_i;
        active_q <= qpc_i.service == ServiceUc && qpc_i.path_mtu == Mtu1024
                 && qpc_i.remote_gid[127:32] == 96'hFFFF;
      end else if (qpc_i.local_qpn == qpc_q.local_qpn) begin
        active_q <= 1'b0;
      end
    end
  end

  // 2. A message at a time. What the core cannot send is refused, and its payload let go by.
  typedef enum logic [2:0] {Idle, Start, Busy, Leave, Discard, Complete} state_e;

  localparam logic [31:0] LongestMessage = 32'd262140;

  state_e        state_q;
  work_request_t wr_q;
  status_e       verdict, status_q;
  logic          busy, is_discarded;

  assign is_idle    = state_q == Idle;
  assign wr_ready_o = is_idle && !qpc_valid_i;

  always_comb begin
    verdict = StatusSuccess;
    if (!active_q || wr_i.qpn != qpc_q.local_qpn || wr_i.operation != OpWrite) begin
      verdict = StatusLocQpOpErr;
    end else if (wr_i.length == '0 || wr_i.length[1:0] != '0 || wr_i.length > LongestMessage) begin
      verdict = StatusLocLenErr;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle: if (wr_valid_i && wr_ready_o) begin
          wr_q     <= wr_i;
          status_q <= verdict;
          if (verdict == StatusSuccess) state_q <= Start;
          else state_q <= wr_i.length == '0 ? Complete : Discard;
        end
        Start:    state_q <= Busy;
        Busy:     if (!busy) state_q <= Leave;
        Leave:    if (!tx_tvalid_o || (tx_tready_i && tx_tlast_o)) state_q <= Complete;
        Discard:  if (is_discarded) state_q <= Complete;
        Complete: if (cpl_ready_i) state_q <= Idle;
      endcase
    end
  end

  // 3. Payload: beats become bytes, the first of them whatever lane it comes in.
  logic [7:0] payload_byte;
  logic       payload_valid, payload_last, payload_ready;

  assign is_discarded = payload_valid && payload_last;

  stream_gearbox #(.InLanes(DataWidth / 8), .OutLanes(1)) u_payload (
    .clk_i,
    .rst_ni,
    .s_tdata_i (pl_tdata_i),
    .s_tkeep_i (pl_tkeep_i),
    .s_tvalid_i(pl_tvalid_i),
    .s_tlast_i (pl_tlast_i),
    .s_tuser_i (1'b0),
    .s_tready_o(pl_tready_o),
    .m_tdata_o (payload_byte),
    .m_tkeep_o (),
    .m_tvalid_o(payload_valid),
    .m_tlast_o (payload_last),
    .m_tuser_o (),
    .m_tready_i(payload_ready || state_q == Discard)
  );

  // 4. The core; its bytes become beats.
  logic [7:0] tx_byte, rx_byte;
  logic       tx_valid, tx_last, tx_ready, rx_valid, rx_last, rx_bad;

  telemetry u_core (
    .clk          (clk_i),
    .rst          (!rst_ni),
    .own_mac      (port_mac_i),
    .own_ip       (port_gid_i[31:0]),
    .peer_mac     (qpc_q.remote_mac),
    .peer_ip      (qpc_q.remote_gid[31:0]),
    .peer_qpn     (qpc_q.remote_qpn[23:0]),
    .load         (load && qpc_i.command == QpActivate),
    .psn_value    (qpc_i.sq_psn[23:0]),
    .id_value     (qpc_i.ip_id),
    .start        (state_q == Start),
    .words        (wr_q.length[17:2]),
    .address      (wr_q.remote_addr),
    .rkey         (wr_q.rkey),
    .busy,
    .payload_data (payload_byte),
    .payload_valid(payload_valid && state_q == Busy),
    .payload_ready,
    .tx_data      (tx_byte),
    .tx_valid,
    .tx_last,
    .tx_ready,
    .rx_data      (rx_byte),
    .rx_valid,
    .rx_last,
    .rx_bad
  );

  stream_gearbox #(.InLanes(1), .OutLanes(DataWidth / 8)) u_frames (
    .clk_i,
    .rst_ni,
    .s_tdata_i (tx_byte),
    .s_tkeep_i (1'b1),
    .s_tvalid_i(tx_valid),
    .s_tlast_i (tx_last),
    .s_tuser_i (1'b0),
    .s_tready_o(tx_ready),
    .m_tdata_o (tx_tdata_o),
    .m_tkeep_o (tx_tkeep_o),
    .m_tvalid_o(tx_tvalid_o),
    .m_tlast_o (tx_tlast_o),
    .m_tuser_o (tx_tuser_o),
    .m_tready_i(tx_tready_i)
  );

  // 5. A completion when the last byte has left, or with the reason of a refusal.
  assign cpl_valid_o = state_q == Complete;
  assign cpl_o = '{
    wr_id: wr_q.wr_id, qpn: wr_q.qpn, status: status_q, syndrome: 8'hFF, reserved0: '0
  };

  // 6. Received beats become bytes, for ARP and ping.
  stream_gearbox #(.InLanes(DataWidth / 8), .OutLanes(1)) u_received (
    .clk_i,
    .rst_ni,
    .s_tdata_i (rx_tdata_i),
    .s_tkeep_i (rx_tkeep_i),
    .s_tvalid_i(rx_tvalid_i),
    .s_tlast_i (rx_tlast_i),
    .s_tuser_i (rx_tuser_i),
    .s_tready_o(rx_tready_o),
    .m_tdata_o (rx_byte),
    .m_tkeep_o (),
    .m_tvalid_o(rx_valid),
    .m_tlast_o (rx_last),
    .m_tuser_o (rx_bad),
    .m_tready_i(1'b1)
  );

  logic unused;
  assign unused = &{1'b0, ClockPs[0], port_gid_i[127:32]};

endmodule

`default_nettype wire
