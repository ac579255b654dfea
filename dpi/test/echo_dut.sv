// SPDX-License-Identifier: BSD-2-Clause
//
// The bridge's own test device, conforming to docs/dut-contract.md: returns
// every received frame with its MAC addresses swapped, and sends each work
// request's payload as one raw frame, then completes it; a work request on a QP
// that was not activated is refused. Work requests with remote_addr 1 to 5 make
// it misbehave: stop the simulation, break an assertion, withdraw an offer, mark
// its frame for discard, complete with a status that there is not.

module echo_dut
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

  localparam int unsigned Lanes = DataWidth / 8;
  localparam int unsigned FrameBytes = 9216;
  localparam int unsigned MinFrameBytes = 60;
  localparam int unsigned Contexts = 16;

  localparam logic [63:0] MisbehaveFinish = 64'd1;
  localparam logic [63:0] MisbehaveFatal = 64'd2;
  localparam logic [63:0] MisbehaveWithdraw = 64'd3;
  localparam logic [63:0] MisbehaveDiscard = 64'd4;
  localparam logic [63:0] MisbehaveStatus = 64'd5;

  typedef enum logic [2:0] {
    Idle,
    FillRx,
    FillPayload,
    Drain,
    Complete
  } state_e;

  state_e              state_q;
  logic [7:0]          frame_q[FrameBytes];
  logic [15:0]         fill_q;  // bytes in frame_q
  logic [15:0]         sent_q;
  logic                swap_q;  // the frame was received
  logic [Contexts-1:0] active_q;
  work_request_t       wr_q;
  logic                refused_q;

  assign qpc_ready_o = 1'b1;
  assign wr_ready_o  = state_q == Idle && !rx_tvalid_i;
  assign rx_tready_o = state_q == FillRx;
  assign pl_tready_o = state_q == FillPayload;

  logic                 in_valid, in_last, in_discard;
  logic [Lanes-1:0]     in_keep;
  logic [DataWidth-1:0] in_data;
  assign in_valid   = (rx_tvalid_i && rx_tready_o) || (pl_tvalid_i && pl_tready_o);
  assign in_last    = rx_tready_o ? rx_tlast_i : pl_tlast_i;
  assign in_keep    = rx_tready_o ? rx_tkeep_i : pl_tkeep_i;
  assign in_data    = rx_tready_o ? rx_tdata_i : pl_tdata_i;
  assign in_discard = rx_tready_o && rx_tuser_i;

  logic misbehave, withdraw, stalled_q;
  assign misbehave = !swap_q && state_q == Drain;
  assign withdraw  = misbehave && wr_q.remote_addr == MisbehaveWithdraw && stalled_q;

  assign tx_tvalid_o = state_q == Drain && !withdraw;
  assign tx_tlast_o  = 32'(sent_q) + Lanes >= 32'(fill_q);
  assign tx_tuser_o  = tx_tlast_o && misbehave && wr_q.remote_addr == MisbehaveDiscard;

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      automatic int unsigned at = 32'(sent_q) + i;
      automatic logic [13:0] from = 14'((swap_q && at < 12) ? (at + 6) % 12 : at);
      tx_tkeep_o[i]      = at < 32'(fill_q);
      tx_tdata_o[8*i+:8] = tx_tkeep_o[i] ? frame_q[from] : 8'h00;
    end
  end

  assign cpl_valid_o = state_q == Complete;

  always_comb begin
    cpl_o          = '0;
    cpl_o.wr_id    = wr_q.wr_id;
    cpl_o.qpn      = wr_q.qpn;
    cpl_o.status   = refused_q ? StatusLocQpOpErr : StatusSuccess;
    cpl_o.syndrome = 8'hff;
    if (wr_q.remote_addr == MisbehaveStatus) cpl_o.status = status_e'(8'd99);
  end

  always_ff @(posedge clk_i) begin
    if (in_valid) begin
      automatic logic [15:0] fill = fill_q;
      // Two loops, because tools unroll only short ones.
      for (int unsigned word = 0; word < Lanes; word += 8) begin
        for (int unsigned i = 0; i < 8; i++) begin
          if (in_keep[word+i]) begin
            frame_q[fill[13:0]] <= in_data[8*(word+i)+:8];
            fill++;
          end
        end
      end
      fill_q <= fill;
      if (in_last) begin
        for (int unsigned i = 0; i < MinFrameBytes; i++) begin
          if (i >= 32'(fill)) frame_q[i] <= 8'h00;
        end
        if (32'(fill) < MinFrameBytes) fill_q <= 16'(MinFrameBytes);
      end
    end

    stalled_q <= tx_tvalid_o && !tx_tready_i;

    if (qpc_valid_i) active_q[qpc_i.local_qpn[3:0]] <= qpc_i.command == QpActivate;

    unique case (state_q)
      Idle: begin
        fill_q <= '0;
        sent_q <= '0;
        if (rx_tvalid_i) begin
          state_q <= FillRx;
          swap_q  <= 1'b1;
        end else if (wr_valid_i) begin
          state_q   <= wr_i.length == '0 ? Complete : FillPayload;
          swap_q    <= 1'b0;
          wr_q      <= wr_i;
          refused_q <= !active_q[wr_i.qpn[3:0]];
          if (wr_i.remote_addr == MisbehaveFinish) $finish;
          NoFatalRequest :
          assert (wr_i.remote_addr != MisbehaveFatal)
          else $fatal(1, "echo_dut was asked to break");
        end
      end
      FillRx:      if (in_valid && in_last) state_q <= in_discard ? Idle : Drain;
      FillPayload: if (in_valid && in_last) state_q <= refused_q ? Complete : Drain;
      Drain: begin
        if (tx_tvalid_o && tx_tready_i) begin
          sent_q <= sent_q + 16'(Lanes);
          if (tx_tlast_o) state_q <= swap_q ? Idle : Complete;
        end
      end
      Complete:    if (cpl_ready_i) state_q <= Idle;
      default:     state_q <= Idle;
    endcase

    if (!rst_ni) begin
      state_q  <= Idle;
      active_q <= '0;
    end
  end

  logic unused;
  assign unused = &{1'b0, port_mac_i, port_gid_i, qpc_i, wr_q, 1'(ClockPs)};

endmodule

`default_nettype wire
