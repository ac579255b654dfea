// SPDX-License-Identifier: BSD-2-Clause
//
// A full-duplex Ethernet MAC between frames on streams of 64 bits and XGMII, for
// 10 and 25 Gbit/s. What is sent is padded to 64 bytes with FCS, and obeys
// pauses of its class (tx_class_i, with every beat); tx_left_o goes with the
// Terminate of a frame whose last beat had tx_mark_i. Received frames that are
// damaged, find no room, or are of MAC control do not come out. A frame that is
// sent has at most 16384 bytes. From PauseBeats of received frames on that the
// client has not taken, the other end is asked for a pause of PauseClasses.

`default_nettype none

module mac_xgmii #(
  parameter int unsigned RxBeats      = 4096,
  parameter int unsigned PauseBeats   = RxBeats / 2,  // more than a frame has
  parameter logic [7:0]  PauseClasses = 8'h01,  // 0: of the whole link
  parameter logic [15:0] PauseQuanta  = 16'hFFFF
) (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [47:0] port_mac_i,
  input  wire logic [63:0] tx_tdata_i,
  input  wire logic [7:0]  tx_tkeep_i,
  input  wire logic        tx_tvalid_i,
  input  wire logic        tx_tlast_i,
  input  wire logic        tx_mark_i,
  input  wire logic [2:0]  tx_class_i,
  output logic             tx_tready_o,
  output logic             tx_left_o,
  output logic      [63:0] rx_tdata_o,
  output logic      [7:0]  rx_tkeep_o,
  output logic             rx_tvalid_o,
  output logic             rx_tlast_o,
  input  wire logic        rx_tready_i,
  output logic      [63:0] xgmii_txd_o,
  output logic      [7:0]  xgmii_txc_o,
  input  wire logic [63:0] xgmii_rxd_i,
  input  wire logic [7:0]  xgmii_rxc_i
);

  localparam int unsigned TxBeats  = 2048;
  localparam int unsigned UsedBits = $clog2(RxBeats) + 1;

  typedef struct packed {
    logic [63:0] data;
    logic [7:0]  keep;
  } beat_t;

  typedef struct packed {
    beat_t      beat;
    logic       mark;
    logic [2:0] priority_class;
  } sent_t;

  // Sent
  sent_t                   kept;
  logic                    kept_valid, kept_last, kept_ready;
  beat_t                   pause, chosen, padded;
  logic                    pause_valid, pause_last, pause_ready;
  logic                    chosen_valid, chosen_last, chosen_user, chosen_ready;
  logic                    padded_valid, padded_last, padded_user, padded_ready;
  logic [7:0]              held;
  logic [UsedBits-1:0]     used;
  logic [$clog2(TxBeats):0] unused_used;

  frame_fifo #(
    .Width($bits(sent_t)),
    .Beats(TxBeats)
  ) u_tx_fifo (
    .clk_i,
    .rst_ni,
    .s_tdata_i ({tx_tdata_i, tx_tkeep_i, tx_mark_i, tx_class_i}),
    .s_tvalid_i(tx_tvalid_i),
    .s_tlast_i (tx_tlast_i),
    .s_tuser_i (1'b0),
    .s_tready_o(tx_tready_o),
    .m_tdata_o (kept),
    .m_tvalid_o(kept_valid),
    .m_tlast_o (kept_last),
    .m_tready_i(kept_ready),
    .used_o    (unused_used)
  );

  pause_sender #(
    .UsedBits(UsedBits),
    .High    (PauseBeats),
    .Low     (PauseBeats / 2),
    .Classes (PauseClasses),
    .Quanta  (PauseQuanta)
  ) u_pause_sender (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .used_i    (used),
    .m_tdata_o (pause.data),
    .m_tkeep_o (pause.keep),
    .m_tvalid_o(pause_valid),
    .m_tlast_o (pause_last),
    .m_tready_i(pause_ready)
  );

  transmit_gate u_gate (
    .clk_i,
    .rst_ni,
    .held_i        (held),
    .s_class_i     (kept.priority_class),
    .s_tdata_i     (kept.beat.data),
    .s_tkeep_i     (kept.beat.keep),
    .s_tvalid_i    (kept_valid),
    .s_tlast_i     (kept_last),
    .s_tuser_i     (kept.mark),
    .s_tready_o    (kept_ready),
    .pause_tdata_i (pause.data),
    .pause_tkeep_i (pause.keep),
    .pause_tvalid_i(pause_valid),
    .pause_tlast_i (pause_last),
    .pause_tready_o(pause_ready),
    .m_tdata_o     (chosen.data),
    .m_tkeep_o     (chosen.keep),
    .m_tvalid_o    (chosen_valid),
    .m_tlast_o     (chosen_last),
    .m_tuser_o     (chosen_user),
    .m_tready_i    (chosen_ready)
  );

  frame_padder u_padder (
    .clk_i,
    .rst_ni,
    .s_tdata_i (chosen.data),
    .s_tkeep_i (chosen.keep),
    .s_tvalid_i(chosen_valid),
    .s_tlast_i (chosen_last),
    .s_tuser_i (chosen_user),
    .s_tready_o(chosen_ready),
    .m_tdata_o (padded.data),
    .m_tkeep_o (padded.keep),
    .m_tvalid_o(padded_valid),
    .m_tlast_o (padded_last),
    .m_tuser_o (padded_user),
    .m_tready_i(padded_ready)
  );

  xgmii_transmitter u_transmitter (
    .clk_i,
    .rst_ni,
    .s_tdata_i (padded.data),
    .s_tkeep_i (padded.keep),
    .s_tvalid_i(padded_valid),
    .s_tlast_i (padded_last),
    .s_tuser_i (padded_user),
    .s_tready_o(padded_ready),
    .xgmii_txd_o,
    .xgmii_txc_o,
    .left_o    (tx_left_o)
  );

  // Received
  beat_t came;
  logic  came_valid, came_last, came_bad, is_control, unused_ready;

  xgmii_receiver u_receiver (
    .clk_i,
    .rst_ni,
    .xgmii_rxd_i,
    .xgmii_rxc_i,
    .m_tdata_o (came.data),
    .m_tkeep_o (came.keep),
    .m_tvalid_o(came_valid),
    .m_tlast_o (came_last),
    .m_tuser_o (came_bad)
  );

  pause_receiver u_pause_receiver (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .tdata_i  (came.data),
    .tvalid_i (came_valid),
    .tlast_i  (came_last),
    .tuser_i  (came_bad),
    .control_o(is_control),
    .held_o   (held)
  );

  frame_fifo #(
    .Width($bits(beat_t)),
    .Beats(RxBeats),
    .Waits(1'b0)
  ) u_rx_fifo (
    .clk_i,
    .rst_ni,
    .s_tdata_i (came),
    .s_tvalid_i(came_valid),
    .s_tlast_i (came_last),
    .s_tuser_i (came_bad || is_control),
    .s_tready_o(unused_ready),
    .m_tdata_o ({rx_tdata_o, rx_tkeep_o}),
    .m_tvalid_o(rx_tvalid_o),
    .m_tlast_o (rx_tlast_o),
    .m_tready_i(rx_tready_i),
    .used_o    (used)
  );

endmodule

`default_nettype wire
