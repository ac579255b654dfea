// SPDX-License-Identifier: BSD-2-Clause
//
// The reference endpoint behind a wrapper that breaks: when so many of one event
// have happened, some of its streams stop for ever, or carry something else.
// Which event, how many and what breaks a file says when a simulation starts, so
// that one build is broken in any place.

`default_nettype none

module hanging_endpoint
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400,
  parameter string       Place     = "hang.txt"
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
  output logic      [DataWidth-1:0]   tx_tdata_o,
  output logic      [DataWidth/8-1:0] tx_tkeep_o,
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
  output logic      [DataWidth-1:0]   mwd_tdata_o,
  output logic      [DataWidth/8-1:0] mwd_tkeep_o,
  output logic                        mwd_tvalid_o,
  output logic                        mwd_tlast_o,
  input  wire logic                   mwd_tready_i,
  input  wire logic                   mdn_valid_i,
  input  wire memory_done_t           mdn_i,
  output logic                        mrc_valid_o,
  input  wire logic                   mrc_ready_i,
  output memory_command_t             mrc_o,
  input  wire logic [DataWidth-1:0]   mrd_tdata_i,
  input  wire logic [DataWidth/8-1:0] mrd_tkeep_i,
  input  wire logic                   mrd_tvalid_i,
  input  wire logic                   mrd_tlast_i,
  output logic                        mrd_tready_o
);

  typedef enum logic [4:0] {
    Cycle, Configuration, Work, PayloadBeat, SentBeat, SentFrame, HeardBeat, HeardFrame, Damaged,
    Completed, Region, Receive, Received, Written, Read,
    Wrapped,  // a packet with the last PSN is about to leave
    Refused   // a NAK has come
  } event_e;

  typedef enum logic [4:0] {
    Rx, Pl, Qpc, Wr, Tx, Cpl, Mr, Rcv, Rcp, Mwc, Mwd, Mrc,
    Last,      // frames do not end
    Again,     // completions repeat
    Babbling,  // it asks for an address without end
    Loop,      // a cycle does not end
    Swallow,   // work and its payload are taken, and nothing comes of them
    Deaf,      // frames are taken, and nothing comes of them
    RxMirror,  // tkeep of what it hears is the wrong way round
    RxBad,     // every frame is marked as damaged
    CplQpn,    // work completes for another queue pair
    RcpQpn,    // receives do
    QpnSwap,   // a queue pair's own number and its peer's are swapped
    KeySwap,   // R_Key and immediate of work are swapped
    VaSwap,    // the halves of a region's address are swapped
    RcvSwap,   // length and key of a receive are swapped
    MwdMirror, // tkeep of what it writes is the wrong way round
    MrdMirror  // bytes read from memory come the wrong way round
  } stream_e;

  int unsigned  chosen = 0, many = 0, mask = 0;
  logic [16:0]  now;
  logic [31:0]  seen_q, spins;
  logic         has_hung_q;
  logic [27:0]  hold_q;
  logic [2:0]   beat_q;
  logic [511:0] question;
  logic         tx_valid, tx_last, tx_user, cpl_valid, rcp_valid, mwc_valid, mwd_valid, mrc_valid;
  logic         rx_ready, pl_ready, qpc_ready, wr_ready, mr_ready, rcv_ready;
  logic [DataWidth-1:0]   tx_data;
  logic [DataWidth/8-1:0] tx_keep;
  logic         babbles, amid_q, is_ack_q;
  logic [15:0]  sent_q, heard_q;  // beats of the frame under way
  completion_t  cpl, last_q;
  logic [DataWidth/8-1:0] mwd_keep;
  receive_completion_t    rcp;
  qp_config_t             qpc;
  work_request_t          wr;
  memory_region_t         mr;
  receive_t               rcv;

  initial begin
    int file;
    int words;
    file = $fopen(Place, "r");
    if (file != 0) begin
      words = $fscanf(file, "%d %d %d", chosen, many, mask);
      if (words != 3) $fatal(1, "%s: want event, count, streams", Place);
      $fclose(file);
    end
  end

  assign question = {
    48'hFFFFFFFFFFFF, port_mac_i, 16'h0806, 64'h0001_0800_0604_0001,
    port_mac_i, port_gid_i[31:0], 48'h0, port_gid_i[31:0] ^ 32'h1, 176'h0
  };

  function automatic logic [63:0] lanes(logic [511:0] frame, logic [2:0] beat);
    logic [63:0] first = frame[511 - 64 * beat -: 64];
    for (int lane = 0; lane < 8; lane++) lanes[8 * lane +: 8] = first[63 - 8 * lane -: 8];
  endfunction

  assign now = {
    rx_tvalid_i && rx_tready_o && is_ack_q && heard_q == 6 && rx_tdata_i[55:53] == 3'b011,
    tx_tvalid_o && tx_tready_i && sent_q == 6 && &tx_tdata_o[47:24],
    mrc_valid_o && mrc_ready_i,
    mwc_valid_o && mwc_ready_i,
    rcp_valid_o && rcp_ready_i,
    rcv_valid_i && rcv_ready_o,
    mr_valid_i && mr_ready_o,
    cpl_valid_o && cpl_ready_i,
    rx_tvalid_i && rx_tready_o && rx_tlast_i && rx_tuser_i,
    rx_tvalid_i && rx_tready_o && rx_tlast_i,
    rx_tvalid_i && rx_tready_o,
    tx_tvalid_o && tx_tready_i && tx_tlast_o,
    tx_tvalid_o && tx_tready_i,
    pl_tvalid_i && pl_tready_o,
    wr_valid_i && wr_ready_o,
    qpc_valid_i && qpc_ready_o,
    1'b1
  };

  // What is offered stays on offer until it is taken.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      seen_q     <= '0;
      has_hung_q <= 1'b0;
      hold_q     <= '0;
      beat_q     <= '0;
      amid_q     <= 1'b0;
      last_q     <= '0;
      is_ack_q   <= 1'b0;
      sent_q     <= '0;
      heard_q    <= '0;
    end else begin
      if (now[chosen[4:0]]) seen_q <= seen_q + 1;
      if (mask != 0 && seen_q + 32'(now[chosen[4:0]]) >= many) has_hung_q <= 1'b1;
      if (has_hung_q) begin
        hold_q <= mask[27:0];
        hold_q[Tx]  <= mask[Tx] && (hold_q[Tx] || !tx_tvalid_o || tx_tready_i);
        hold_q[Cpl] <= mask[Cpl] && (hold_q[Cpl] || !cpl_valid_o || cpl_ready_i);
        hold_q[Rcp] <= mask[Rcp] && (hold_q[Rcp] || !rcp_valid_o || rcp_ready_i);
        hold_q[Mwc] <= mask[Mwc] && (hold_q[Mwc] || !mwc_valid_o || mwc_ready_i);
        hold_q[Mwd] <= mask[Mwd] && (hold_q[Mwd] || !mwd_tvalid_o || mwd_tready_i);
        hold_q[Mrc] <= mask[Mrc] && (hold_q[Mrc] || !mrc_valid_o || mrc_ready_i);
        hold_q[Babbling] <= mask[Babbling]
            && (hold_q[Babbling] || (tx_valid ? tx_tready_i && tx_last : !amid_q));
      end
      if (cpl_valid_o && cpl_ready_i) last_q <= cpl_o;
      if (rx_tvalid_i && rx_tready_o) begin
        heard_q <= rx_tlast_i ? '0 : heard_q + 16'd1;
        if (heard_q == 5) is_ack_q <= rx_tdata_i[23:16] == 8'h11;
      end
      if (tx_tvalid_o && tx_tready_i) begin
        sent_q <= tx_tlast_o ? '0 : sent_q + 16'd1;
        amid_q <= !tx_tlast_o;
        if (babbles) beat_q <= beat_q + 3'd1;
      end
    end
  end

  // A loop that may print is one that no compiler leaves out.
  always_comb begin
    spins = seen_q;
    while (hold_q[Loop] && spins != '1) begin
      spins = (spins * 32'd1664525 + 32'd1) & 32'h7FFFFFFF;
      if (spins == 32'd7) $write("");
    end
  end

  always_comb begin
    qpc = qpc_i;
    wr  = wr_i;
    mr  = mr_i;
    rcv = rcv_i;
    if (hold_q[QpnSwap]) {qpc.local_qpn, qpc.remote_qpn} = {qpc_i.remote_qpn, qpc_i.local_qpn};
    if (hold_q[KeySwap]) {wr.rkey, wr.immediate} = {wr_i.immediate, wr_i.rkey};
    if (hold_q[VaSwap]) mr.va = {mr_i.va[31:0], mr_i.va[63:32]};
    if (hold_q[RcvSwap]) {rcv.lkey, rcv.length} = {rcv_i.length, rcv_i.lkey};
    cpl_o = cpl_valid ? cpl : last_q;
    cpl_o.qpn[0] ^= hold_q[CplQpn];
    rcp_o = rcp;
    rcp_o.qpn[0] ^= hold_q[RcpQpn];
  end

  assign mwd_tkeep_o = hold_q[MwdMirror] ? {<<{mwd_keep}} : mwd_keep;
  assign babbles     = hold_q[Babbling];
  assign rx_tready_o = (rx_ready || hold_q[Deaf]) && !hold_q[Rx];
  assign pl_tready_o = (pl_ready || hold_q[Swallow]) && !hold_q[Pl];
  assign qpc_ready_o = qpc_ready && !hold_q[Qpc];
  assign wr_ready_o  = (wr_ready || hold_q[Swallow]) && !hold_q[Wr];
  assign mr_ready_o  = mr_ready && !hold_q[Mr];
  assign rcv_ready_o = rcv_ready && !hold_q[Rcv];
  assign tx_tvalid_o = !hold_q[Tx] && (babbles || tx_valid);
  assign tx_tdata_o  = babbles ? lanes(question, beat_q) : tx_data;
  assign tx_tkeep_o  = babbles ? (beat_q == '1 ? 8'h0F : 8'hFF)
                     : tx_last && hold_q[Last] ? '1 : tx_keep;
  assign tx_tlast_o  = babbles ? beat_q == '1 : tx_last && !hold_q[Last];
  assign tx_tuser_o  = !babbles && tx_user && spins != '1;
  assign cpl_valid_o = (cpl_valid || hold_q[Again]) && !hold_q[Cpl];
  assign rcp_valid_o = rcp_valid && !hold_q[Rcp];
  assign mwc_valid_o = mwc_valid && !hold_q[Mwc];
  assign mwd_tvalid_o = mwd_valid && !hold_q[Mwd];
  assign mrc_valid_o = mrc_valid && !hold_q[Mrc];

  roce_endpoint #(
    .DataWidth(DataWidth), .ClockPs(ClockPs), .Regions(256)
  ) u_endpoint (
    .qpc_i        (qpc),
    .wr_i         (wr),
    .mr_i         (mr),
    .rcv_i        (rcv),
    .rcp_o        (rcp),
    .mwd_tkeep_o  (mwd_keep),
    .mrd_tdata_i  (hold_q[MrdMirror] ? {<<8{mrd_tdata_i}} : mrd_tdata_i),
    .rx_tkeep_i   (hold_q[RxMirror] ? {<<{rx_tkeep_i}} : rx_tkeep_i),
    .rx_tuser_i   (rx_tuser_i || (rx_tlast_i && hold_q[RxBad])),
    .rx_tvalid_i  (rx_tvalid_i && !hold_q[Rx] && !hold_q[Deaf]),
    .rx_tready_o  (rx_ready),
    .pl_tvalid_i  (pl_tvalid_i && !hold_q[Pl] && !hold_q[Swallow]),
    .pl_tready_o  (pl_ready),
    .qpc_valid_i  (qpc_valid_i && !hold_q[Qpc]),
    .qpc_ready_o  (qpc_ready),
    .wr_valid_i   (wr_valid_i && !hold_q[Wr] && !hold_q[Swallow]),
    .wr_ready_o   (wr_ready),
    .mr_valid_i   (mr_valid_i && !hold_q[Mr]),
    .mr_ready_o   (mr_ready),
    .rcv_valid_i  (rcv_valid_i && !hold_q[Rcv]),
    .rcv_ready_o  (rcv_ready),
    .tx_tdata_o   (tx_data),
    .tx_tkeep_o   (tx_keep),
    .tx_tvalid_o  (tx_valid),
    .tx_tlast_o   (tx_last),
    .tx_tuser_o   (tx_user),
    .tx_tready_i  (tx_tready_i && !hold_q[Tx] && !babbles),
    .cpl_valid_o  (cpl_valid),
    .cpl_ready_i  (cpl_ready_i && !hold_q[Cpl]),
    .cpl_o        (cpl),
    .rcp_valid_o  (rcp_valid),
    .rcp_ready_i  (rcp_ready_i && !hold_q[Rcp]),
    .mwc_valid_o  (mwc_valid),
    .mwc_ready_i  (mwc_ready_i && !hold_q[Mwc]),
    .mwd_tvalid_o (mwd_valid),
    .mwd_tready_i (mwd_tready_i && !hold_q[Mwd]),
    .mrc_valid_o  (mrc_valid),
    .mrc_ready_i  (mrc_ready_i && !hold_q[Mrc]),
    .*
  );

endmodule

`default_nettype wire
