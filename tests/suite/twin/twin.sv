// SPDX-License-Identifier: BSD-2-Clause
//
// A healthy device behind an adapter that adds habits which the specification
// and the contract leave open. Which, says the command line of the simulation,
// so one build serves all that are drawn; tests/suite/drawn_twins draws them.
// TWIN_DEVICE is the module inside.

`default_nettype none

`ifndef ROCEPROOF_DUT_PARAMETERS
`define ROCEPROOF_DUT_PARAMETERS
`endif

module twin
  import roceproof_dut_pkg::*;
  import twin_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400
`ifdef ROCEPROOF_MEMORY_READS
  ,
  parameter int unsigned Regions     = 16,
  parameter int unsigned Invalidates = 0,
  parameter int unsigned Atomics     = 0,
  parameter int unsigned Datagrams   = 0,
  parameter int unsigned Shared      = 0,
  parameter int unsigned Notifies    = 0
`endif
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
`ifdef ROCEPROOF_RESPONDER
  ,
  input  wire logic                   rcv_valid_i,
  output logic                        rcv_ready_o,
  input  wire receive_t               rcv_i,
  output logic                        rcp_valid_o,
  input  wire logic                   rcp_ready_i,
  output receive_completion_t         rcp_o
`ifndef ROCEPROOF_STATIC_KEYS
  ,
  input  wire logic                   mr_valid_i,
  output logic                        mr_ready_o,
  input  wire memory_region_t         mr_i
`endif
`ifndef ROCEPROOF_BACKDOOR
  ,
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
`endif
`endif
`ifdef ROCEPROOF_MEMORY_READS
  ,
  output logic                        mrc_valid_o,
  input  wire logic                   mrc_ready_i,
  output memory_command_t             mrc_o,
  input  wire logic [DataWidth-1:0]   mrd_tdata_i,
  input  wire logic [DataWidth/8-1:0] mrd_tkeep_i,
  input  wire logic                   mrd_tvalid_i,
  input  wire logic                   mrd_tlast_i,
  output logic                        mrd_tready_o
`endif
`ifdef ROCEPROOF_CM
  ,
  output logic                        cme_valid_o,
  input  wire logic                   cme_ready_i,
  output connection_event_t           cme_o
`endif
);

  typedef enum logic [2:0] { Idle, Drain, Offer, Whole, Settle, Taken } state_e;

  logic        never_flushes;
  int unsigned later_timer;

  initial begin
    never_flushes = habit("no_flush") != 0;
    later_timer   = habit("timer_up");
  end

  state_e           state_q;
  qp_config_t       config_in;
  logic             qpc_offered, qpc_inner_ready, told_q;
  logic [31:0]      arrived, delivered, arrived_q;
  logic [3:0][31:0] entered, left, entered_q;
  logic             in_frame, have_left;
  logic             learned, paused;
  logic [31:0]      learned_ip, pause;

  // A queue pair's configuration: behind the frames that came before it, and taken when those that
  // the device has sent before are gone.
  twin_wait #(.Name("qpc"), .Salt(1)) u_qpc (
    .clk_i, .rst_ni, .valid_i(qpc_valid_i), .last_i(1'b1), .ready_o(qpc_ready_o),
    .valid_o(qpc_offered), .ready_i(state_q == Taken)
  );

  always_comb begin
    config_in = qpc_i;
    if (qpc_i.ack_timeout != '0 && 32'(qpc_i.ack_timeout) + later_timer <= 31) begin
      config_in.ack_timeout = qpc_i.ack_timeout + 8'(later_timer);
    end
  end

  always_comb begin
    have_left = 1'b1;
    for (int n = 0; n < 4; n++) if (!has_come(left[n], entered_q[n])) have_left = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    told_q <= 1'b0;
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle: if (qpc_offered) begin
          state_q   <= Drain;
          arrived_q <= arrived;
        end
        Drain:  if (has_come(delivered, arrived_q)) state_q <= Offer;
        Offer: if (qpc_inner_ready) begin
          state_q <= Whole;
          told_q  <= 1'b1;
        end
        Whole: if (!in_frame) begin
          state_q   <= Settle;
          entered_q <= entered;
        end
        Settle: if (have_left) state_q <= Taken;
        Taken:  state_q <= Idle;
        default: ;
      endcase
    end
  end

  logic wr_valid, wr_ready, wr_taken, holds_work, work_waits_q, pl_valid, pl_ready;

  // Behind a configuration that waits no work is offered that was not before.
  assign holds_work = qpc_valid_i && !qpc_ready_o && !work_waits_q;
  assign wr_ready_o = wr_taken && !holds_work;
  always_ff @(posedge clk_i) begin
    work_waits_q <= rst_ni && wr_valid_i && !holds_work && !wr_taken;
  end

  twin_wait #(.Name("wr"), .Salt(2)) u_wr (
    .clk_i, .rst_ni, .valid_i(wr_valid_i && !holds_work), .last_i(1'b1), .ready_o(wr_taken),
    .valid_o(wr_valid), .ready_i(wr_ready)
  );
  twin_wait #(.Name("pl"), .Salt(3)) u_pl (
    .clk_i, .rst_ni, .valid_i(pl_tvalid_i), .last_i(pl_tlast_i), .ready_o(pl_tready_o),
    .valid_o(pl_valid), .ready_i(pl_ready)
  );

  // A completion comes when what it stands for has left.
  logic        cpl_inner_valid, cpl_inner_ready, cpl_ready, is_flush, stamped_q;
  logic [31:0] stamp_q;

  assign is_flush        = never_flushes && cpl_o.status == StatusWrFlushErr;
  assign cpl_inner_ready = is_flush || cpl_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (cpl_inner_valid && cpl_inner_ready)) begin
      stamped_q <= 1'b0;
    end else if (cpl_inner_valid && !stamped_q && !in_frame) begin
      stamped_q <= 1'b1;
      stamp_q   <= entered[0];
    end
  end

  logic cpl_gate, cpl_waits_ready;
  assign cpl_gate  = stamped_q && has_come(left[0], stamp_q);
  assign cpl_ready = cpl_gate && cpl_waits_ready;

  twin_wait #(.Name("cpl"), .Salt(4)) u_cpl (
    .clk_i, .rst_ni, .valid_i(cpl_inner_valid && cpl_gate && !is_flush), .last_i(1'b1),
    .ready_o(cpl_waits_ready), .valid_o(cpl_valid_o), .ready_i(cpl_ready_i)
  );

  // Frames in.
  logic [DataWidth-1:0]   rx_data, tx_data, sent_data;
  logic [DataWidth/8-1:0] rx_keep, tx_keep;
  logic rx_waited, rx_waits, rx_valid, rx_last, rx_user, rx_ready;
  logic tx_valid, tx_last, tx_ready, sent_valid, sent_ready;

  twin_wait #(.Name("rx"), .Salt(5)) u_rx (
    .clk_i, .rst_ni, .valid_i(rx_tvalid_i), .last_i(rx_tlast_i), .ready_o(rx_tready_o),
    .valid_o(rx_waited), .ready_i(rx_waits)
  );
  twin_arrivals #(.DataWidth(DataWidth)) u_arrivals (
    .clk_i, .rst_ni, .s_tdata_i(rx_tdata_i), .s_tkeep_i(rx_tkeep_i), .s_tvalid_i(rx_waited),
    .s_tlast_i(rx_tlast_i), .s_tuser_i(rx_tuser_i), .s_tready_o(rx_waits), .m_tdata_o(rx_data),
    .m_tkeep_o(rx_keep), .m_tvalid_o(rx_valid), .m_tlast_o(rx_last), .m_tuser_o(rx_user),
    .m_tready_i(rx_ready), .entered_o(arrived), .left_o(delivered), .learned_o(learned),
    .learned_ip_o(learned_ip), .paused_o(paused), .pause_o(pause)
  );

  // Frames out.
  twin_departures #(.DataWidth(DataWidth)) u_departures (
    .clk_i, .rst_ni, .port_mac_i, .port_ipv4_i(port_gid_i[31:0]), .flush_i(state_q != Idle),
    .told_i(told_q), .told_key_i({qpc_i.remote_gid[31:0], qpc_i.remote_qpn[23:0]}),
    .told_id_i(qpc_i.ip_id), .learned_i(learned), .learned_ip_i(learned_ip), .paused_i(paused),
    .pause_i(pause), .s_tdata_i(tx_data), .s_tkeep_i(tx_keep), .s_tvalid_i(tx_valid),
    .s_tlast_i(tx_last), .s_tready_o(tx_ready), .m_tdata_o(sent_data), .m_tkeep_o(tx_tkeep_o),
    .m_tvalid_o(sent_valid), .m_tlast_o(tx_tlast_o), .m_tready_i(sent_ready),
    .in_frame_o(in_frame), .entered_o(entered), .left_o(left)
  );
  twin_wait #(.Name("tx"), .Salt(6)) u_tx (
    .clk_i, .rst_ni, .valid_i(sent_valid), .last_i(tx_tlast_o), .ready_o(sent_ready),
    .valid_o(tx_tvalid_o), .ready_i(tx_tready_i)
  );

  assign tx_tdata_o = sent_data;

`ifdef ROCEPROOF_RESPONDER
  logic rcv_valid, rcv_ready, rcp_valid, rcp_ready;

  twin_wait #(.Name("rcv"), .Salt(7)) u_rcv (
    .clk_i, .rst_ni, .valid_i(rcv_valid_i), .last_i(1'b1), .ready_o(rcv_ready_o),
    .valid_o(rcv_valid), .ready_i(rcv_ready)
  );
  twin_wait #(.Name("rcp"), .Salt(8)) u_rcp (
    .clk_i, .rst_ni, .valid_i(rcp_valid), .last_i(1'b1), .ready_o(rcp_ready),
    .valid_o(rcp_valid_o), .ready_i(rcp_ready_i)
  );
`ifndef ROCEPROOF_STATIC_KEYS
  // A region, behind the frames that came before it.
  logic        mr_valid, mr_ready, mr_waited, mr_waits, mr_known_q;
  logic [31:0] mr_arrived_q;

  assign mr_valid = mr_waited && mr_known_q && has_come(delivered, mr_arrived_q);
  assign mr_waits = mr_valid && mr_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || mr_waits) begin
      mr_known_q <= 1'b0;
    end else if (mr_waited && !mr_known_q) begin
      mr_known_q   <= 1'b1;
      mr_arrived_q <= arrived;
    end
  end

  twin_wait #(.Name("mr"), .Salt(9)) u_mr (
    .clk_i, .rst_ni, .valid_i(mr_valid_i), .last_i(1'b1), .ready_o(mr_ready_o),
    .valid_o(mr_waited), .ready_i(mr_waits)
  );
`endif
`ifndef ROCEPROOF_BACKDOOR
  logic mwc_valid, mwc_ready, mwd_valid, mwd_ready;

  twin_wait #(.Name("mwc"), .Salt(10)) u_mwc (
    .clk_i, .rst_ni, .valid_i(mwc_valid), .last_i(1'b1), .ready_o(mwc_ready),
    .valid_o(mwc_valid_o), .ready_i(mwc_ready_i)
  );
  twin_wait #(.Name("mwd"), .Salt(11)) u_mwd (
    .clk_i, .rst_ni, .valid_i(mwd_valid), .last_i(mwd_tlast_o), .ready_o(mwd_ready),
    .valid_o(mwd_tvalid_o), .ready_i(mwd_tready_i)
  );
`endif
`endif
`ifdef ROCEPROOF_MEMORY_READS
  logic mrc_valid, mrc_ready, mrd_valid, mrd_ready;

  twin_wait #(.Name("mrc"), .Salt(12)) u_mrc (
    .clk_i, .rst_ni, .valid_i(mrc_valid), .last_i(1'b1), .ready_o(mrc_ready),
    .valid_o(mrc_valid_o), .ready_i(mrc_ready_i)
  );
  twin_wait #(.Name("mrd"), .Salt(13)) u_mrd (
    .clk_i, .rst_ni, .valid_i(mrd_tvalid_i), .last_i(mrd_tlast_i), .ready_o(mrd_tready_o),
    .valid_o(mrd_valid), .ready_i(mrd_ready)
  );
`endif

  `TWIN_DEVICE #(
    .DataWidth(DataWidth),
    .ClockPs  (ClockPs) `ROCEPROOF_DUT_PARAMETERS
  ) u_device (
    .clk_i, .rst_ni, .port_mac_i, .port_gid_i,
    .qpc_valid_i(state_q == Offer), .qpc_ready_o(qpc_inner_ready), .qpc_i(config_in),
    .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_i,
    .pl_tdata_i, .pl_tkeep_i, .pl_tvalid_i(pl_valid), .pl_tlast_i, .pl_tready_o(pl_ready),
    .cpl_valid_o(cpl_inner_valid), .cpl_ready_i(cpl_inner_ready), .cpl_o,
    .tx_tdata_o(tx_data), .tx_tkeep_o(tx_keep), .tx_tvalid_o(tx_valid), .tx_tlast_o(tx_last),
    .tx_tuser_o, .tx_tready_i(tx_ready),
    .rx_tdata_i(rx_data), .rx_tkeep_i(rx_keep), .rx_tvalid_i(rx_valid), .rx_tlast_i(rx_last),
    .rx_tuser_i(rx_user), .rx_tready_o(rx_ready)
`ifdef ROCEPROOF_RESPONDER
    ,
    .rcv_valid_i(rcv_valid), .rcv_ready_o(rcv_ready), .rcv_i,
    .rcp_valid_o(rcp_valid), .rcp_ready_i(rcp_ready), .rcp_o
`ifndef ROCEPROOF_STATIC_KEYS
    ,
    .mr_valid_i(mr_valid), .mr_ready_o(mr_ready), .mr_i
`endif
`ifndef ROCEPROOF_BACKDOOR
    ,
    .mwc_valid_o(mwc_valid), .mwc_ready_i(mwc_ready), .mwc_o,
    .mwd_tdata_o, .mwd_tkeep_o, .mwd_tvalid_o(mwd_valid), .mwd_tlast_o,
    .mwd_tready_i(mwd_ready), .mdn_valid_i, .mdn_i
`endif
`endif
`ifdef ROCEPROOF_MEMORY_READS
    ,
    .mrc_valid_o(mrc_valid), .mrc_ready_i(mrc_ready), .mrc_o,
    .mrd_tdata_i, .mrd_tkeep_i, .mrd_tvalid_i(mrd_valid), .mrd_tlast_i, .mrd_tready_o(mrd_ready)
`endif
`ifdef ROCEPROOF_CM
    ,
    .cme_valid_o, .cme_ready_i, .cme_o
`endif
  );

endmodule

`default_nettype wire
