// SPDX-License-Identifier: BSD-2-Clause
//
// The device without a bridge: one active QP, `Messages` work requests of
// `MessageBytes` bytes offered as fast as they are taken, a counter as
// payload, a wire that is always ready. Ends after the last completion and
// prints the cycles it took. The floor that bench/simulation.py compares with.
//
// What the device receives are inputs that nobody drives, and what it sends is
// folded into a word, so that no tool can leave half of the device out.

`default_nettype none

module roceproof_top
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth    = 64,
  parameter int unsigned ClockPs      = 6400,
  parameter int unsigned Messages     = 200,
  parameter int unsigned MessageBytes = 65536   // a whole number of beats
) (
  input wire logic                   clk_i,
  input wire logic                   rst_ni,
  input wire logic [47:0]            port_mac_i,
  input wire logic [127:0]           port_gid_i,
  input wire logic [DataWidth-1:0]   rx_tdata_i,
  input wire logic [DataWidth/8-1:0] rx_tkeep_i,
  input wire logic                   rx_tvalid_i,
  input wire logic                   rx_tlast_i,
  input wire logic                   rx_tuser_i,
  output logic                       rx_tready_o,
  output logic [DataWidth-1:0]       folded_o
);

  localparam int unsigned Lanes = DataWidth / 8;
  localparam int unsigned Beats = MessageBytes / Lanes;
  localparam int unsigned Words = DataWidth / 64;

  qp_config_t    qpc;
  work_request_t wr;
  completion_t   cpl;

  logic [DataWidth-1:0]   tx_data;
  logic [DataWidth/8-1:0] tx_keep;
  logic                   tx_valid, tx_last, tx_user;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) folded_o <= '0;
    else if (tx_valid && !tx_user) folded_o <= folded_o ^ tx_data ^ DataWidth'({tx_last, tx_keep});
  end

  logic                 qpc_ready, wr_ready, pl_ready, cpl_valid;
  logic                 qpc_done_q;
  logic [31:0]          offered_q, completed_q, beat_q, sent_q;
  logic [DataWidth-1:0] payload;
  longint               cycle_q;

  always_comb begin
    qpc             = '0;
    qpc.command     = QpActivate;
    qpc.service     = ServiceUc;
    qpc.path_mtu    = Mtu4096;
    qpc.local_qpn   = 32'h11;
    qpc.remote_qpn  = 32'h12;
    qpc.remote_mac  = 48'h020000000002;
    qpc.remote_gid  = 128'hffffc0a80102;
    qpc.udp_sport   = 16'hc000;
    qpc.hop_limit   = 8'd64;
    wr              = '0;
    wr.wr_id        = 64'(offered_q);
    wr.qpn          = 32'h11;
    wr.operation    = OpWrite;
    wr.remote_addr  = 64'h1000;
    wr.rkey         = 32'h1;
    wr.length       = MessageBytes;
    for (int unsigned i = 0; i < Words; i++) begin
      payload[64*i+:64] = 64'h9E3779B1 * (64'(beat_q) * 64'(Words) + 64'(i));
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      qpc_done_q  <= 1'b0;
      offered_q   <= '0;
      completed_q <= '0;
      beat_q      <= '0;
      sent_q      <= '0;
      cycle_q     <= 0;
    end else begin
      cycle_q <= cycle_q + 1;
      if (qpc_ready) qpc_done_q <= 1'b1;
      if (qpc_done_q && wr_ready && offered_q != Messages) offered_q <= offered_q + 32'd1;
      if (pl_ready && sent_q != Messages) begin
        beat_q <= beat_q == Beats - 1 ? '0 : beat_q + 32'd1;
        if (beat_q == Beats - 1) sent_q <= sent_q + 32'd1;
      end
      if (cpl_valid) completed_q <= completed_q + 32'd1;
      if (completed_q == Messages) begin
        $display("cycles %0d", cycle_q);
        $finish;
      end
    end
  end

  `ROCEPROOF_DUT #(
    .DataWidth(DataWidth),
    .ClockPs  (ClockPs)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_gid_i,
    .qpc_valid_i(!qpc_done_q),
    .qpc_ready_o(qpc_ready),
    .qpc_i      (qpc),
    .wr_valid_i (qpc_done_q && offered_q != Messages),
    .wr_ready_o (wr_ready),
    .wr_i       (wr),
    .pl_tdata_i (payload),
    .pl_tkeep_i ('1),
    .pl_tvalid_i(sent_q != Messages),
    .pl_tlast_i (beat_q == Beats - 1),
    .pl_tready_o(pl_ready),
    .cpl_valid_o(cpl_valid),
    .cpl_ready_i(1'b1),
    .cpl_o      (cpl),
    .tx_tdata_o (tx_data),
    .tx_tkeep_o (tx_keep),
    .tx_tvalid_o(tx_valid),
    .tx_tlast_o (tx_last),
    .tx_tuser_o (tx_user),
    .tx_tready_i(1'b1),
    .rx_tdata_i,
    .rx_tkeep_i,
    .rx_tvalid_i,
    .rx_tlast_i,
    .rx_tuser_i,
    .rx_tready_o
  );

  always_ff @(posedge clk_i) begin
    if (rst_ni && cpl_valid) begin
      AllSucceed :
      assert (cpl.status == StatusSuccess)
      else $fatal(1, "work request %0d failed", cpl.wr_id);
    end
  end

endmodule

`default_nettype wire
