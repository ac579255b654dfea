// SPDX-License-Identifier: BSD-2-Clause
//
// uc_writer behind the DUT contract: turns records into register writes, one
// message at a time, and refuses what the core has no means to send.

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

  if (DataWidth != 64 || ClockPs == 0) begin : gen_unsupported
    $error("uc_writer's wrapper is 64 bits wide");
  end

  localparam logic [31:0] LongestMessage = 32'h8000_0000;
  localparam logic [95:0] MappedIpv4 = 96'hFFFF;
  localparam logic [2:0]  LastPortStep = 3'd2, LastQpStep = 3'd6, LastCommandStep = 3'd5;

  typedef enum logic [2:0] {
    Port,       // the port's addresses go to the registers
    Idle,
    Configure,  // a QP's registers are written
    Command,    // a message's registers are written, GO last
    Busy,       // the core sends
    Leave,      // the last frame leaves the gearbox
    Discard,    // the payload of a refused message goes by
    Complete
  } state_e;

  state_e        state_q;
  logic [2:0]    step_q;
  qp_config_t    qpc_q;
  work_request_t wr_q;
  status_e       status_q;
  logic [1:0]       active_q;
  logic [1:0][31:0] qpn_q;

  logic [31:0] payload_word;
  logic        payload_valid, payload_last, payload_ready, core_payload_ready;
  logic [31:0] tx_word, rx_word;
  logic [3:0]  tx_keep, rx_keep;
  logic        tx_valid, tx_last, tx_ready, rx_last;

  logic        bus_we;
  logic [4:0]  bus_addr;
  logic [31:0] bus_wdata, bus_rdata;

  always_comb begin
    bus_we    = state_q inside {Port, Configure, Command};
    bus_addr  = 5'h03;  // STATUS
    bus_wdata = '0;
    unique case (state_q)
      Port: begin
        bus_addr = 5'(step_q);
        unique case (step_q)
          3'd0:    bus_wdata = {16'd0, port_mac_i[47:32]};
          3'd1:    bus_wdata = port_mac_i[31:0];
          default: bus_wdata = port_gid_i[31:0];
        endcase
      end
      Configure: begin
        bus_addr = {1'b1, qpc_q.local_qpn[0], step_q};
        unique case (step_q)
          3'd0:    bus_wdata = {16'd0, qpc_q.remote_mac[47:32]};
          3'd1:    bus_wdata = qpc_q.remote_mac[31:0];
          3'd2:    bus_wdata = qpc_q.remote_gid[31:0];
          3'd3:    bus_wdata = {qpc_q.udp_sport, qpc_q.traffic_class, qpc_q.hop_limit};
          3'd4:    bus_wdata = {5'd0, qpc_q.path_mtu[2:0], qpc_q.remote_qpn[23:0]};
          3'd5:    bus_wdata = 32'(qpc_q.sq_psn);
          default: bus_wdata = {16'd0, qpc_q.ip_id};
        endcase
      end
      Command: begin
        bus_addr = 5'h08 + 5'(step_q);
        unique case (step_q)
          3'd0:    bus_wdata = wr_q.remote_addr[63:32];
          3'd1:    bus_wdata = wr_q.remote_addr[31:0];
          3'd2:    bus_wdata = wr_q.rkey;
          3'd3:    bus_wdata = wr_q.length;
          3'd4:    bus_wdata = wr_q.immediate;
          default: bus_wdata = {29'd0, wr_q.solicited, wr_q.operation == OpWriteImm, wr_q.qpn[0]};
        endcase
      end
      default: ;
    endcase
  end

  logic    supported;  // the configuration offered is one that the core can run
  status_e verdict;    // on the work request offered

  always_comb begin
    supported = qpc_i.command == QpActivate && qpc_i.service == ServiceUc
             && qpc_i.path_mtu inside {[Mtu256:Mtu4096]}
             && qpc_i.remote_gid[127:32] == MappedIpv4;
    if (!(wr_i.operation inside {OpWrite, OpWriteImm})
        || !active_q[wr_i.qpn[0]] || qpn_q[wr_i.qpn[0]] != wr_i.qpn) begin
      verdict = StatusLocQpOpErr;
    end else if (wr_i.length > LongestMessage) begin
      verdict = StatusLocLenErr;
    end else begin
      verdict = StatusSuccess;
    end
  end

  assign qpc_ready_o   = state_q == Idle;
  assign wr_ready_o    = state_q == Idle && !qpc_valid_i;
  assign payload_ready = state_q == Discard || core_payload_ready;
  assign cpl_valid_o   = state_q == Complete;
  assign cpl_o = '{
    wr_id: wr_q.wr_id, qpn: wr_q.qpn, status: status_q, syndrome: 8'hFF, reserved0: '0
  };
  assign tx_tuser_o = 1'b0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Port;
      step_q   <= '0;
      active_q <= '0;
    end else begin
      step_q <= '0;
      unique case (state_q)
        Port: begin
          step_q <= step_q + 3'd1;
          if (step_q == LastPortStep) begin
            state_q <= Idle;
            step_q  <= '0;
          end
        end
        Idle: begin
          qpc_q    <= qpc_i;
          wr_q     <= wr_i;
          status_q <= verdict;
          if (qpc_valid_i) begin
            if (supported) begin
              state_q                    <= Configure;
              active_q[qpc_i.local_qpn[0]] <= 1'b1;
              qpn_q[qpc_i.local_qpn[0]]    <= qpc_i.local_qpn;
            end else if (qpn_q[qpc_i.local_qpn[0]] == qpc_i.local_qpn) begin
              active_q[qpc_i.local_qpn[0]] <= 1'b0;
            end
          end else if (wr_valid_i) begin
            if (verdict == StatusSuccess) state_q <= Command;
            else state_q <= wr_i.length == 0 ? Complete : Discard;
          end
        end
        Configure: begin
          step_q <= step_q + 3'd1;
          if (step_q == LastQpStep) state_q <= Idle;
        end
        Command: begin
          step_q <= step_q + 3'd1;
          if (step_q == LastCommandStep) state_q <= Busy;
        end
        Busy:     if (!bus_rdata[0]) state_q <= Leave;
        Leave:    if (!tx_tvalid_o || (tx_tready_i && tx_tlast_o)) state_q <= Complete;
        Discard:  if (payload_valid && payload_last) state_q <= Complete;
        Complete: if (cpl_ready_i) state_q <= Idle;
      endcase
    end
  end

  wrapper_payload u_payload (
    .clk_i,
    .rst_ni,
    .tdata_i (pl_tdata_i),
    .tkeep_i (pl_tkeep_i),
    .tvalid_i(pl_tvalid_i),
    .tlast_i (pl_tlast_i),
    .tready_o(pl_tready_o),
    .word_o  (payload_word),
    .valid_o (payload_valid),
    .last_o  (payload_last),
    .ready_i (payload_ready)
  );

  wrapper_frames u_frames (
    .clk_i,
    .rst_ni,
    .tx_word_i (tx_word),
    .tx_keep_i (tx_keep),
    .tx_valid_i(tx_valid),
    .tx_last_i (tx_last),
    .tx_ready_o(tx_ready),
    .tx_tdata_o,
    .tx_tkeep_o,
    .tx_tvalid_o,
    .tx_tlast_o,
    .tx_tready_i,
    .rx_tdata_i,
    .rx_tkeep_i,
    .rx_tvalid_i,
    .rx_tlast_i,
    .rx_tready_o,
    .rx_word_o (rx_word),
    .rx_keep_o (rx_keep),
    .rx_last_o (rx_last)
  );

  uc_writer u_core (
    .clk          (clk_i),
    .rst          (!rst_ni),
    .bus_we,
    .bus_addr,
    .bus_wdata,
    .bus_rdata,
    .s_axis_tdata (payload_word),
    .s_axis_tvalid(payload_valid),
    .s_axis_tready(core_payload_ready),
    .m_axis_tdata (tx_word),
    .m_axis_tkeep (tx_keep),
    .m_axis_tvalid(tx_valid),
    .m_axis_tlast (tx_last),
    .m_axis_tready(tx_ready),
    .rx_data      (rx_word),
    .rx_keep,
    .rx_valid     (rx_tvalid_i),
    .rx_last,
    .rx_bad       (rx_tuser_i)
  );

endmodule

`default_nettype wire
