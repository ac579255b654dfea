// SPDX-License-Identifier: BSD-2-Clause
//
// From work requests and payload to frames with ICRC: segmenter, payload
// aligner, header builder, assembler and ICRC in a row, and beside them the
// queue that says what is due when a frame has left the endpoint (left_i).

`default_nettype none

module tx_path
  import roceproof_dut_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned DataWidth  = 64,
  parameter int unsigned Qps        = 16,
  parameter int unsigned Recovery   = 0,
  parameter int unsigned Ipv6       = 0,
  parameter int unsigned Vlan       = 0,
  parameter int unsigned Reads      = 0,
  parameter int unsigned Datagrams  = 0,
  parameter int unsigned Credits    = 0,
  parameter int unsigned Reacts     = 0,
  parameter int unsigned Period     = 1,
  parameter int unsigned Slowest    = 64,
  parameter int unsigned InFlight   = 16,  // frames between segmenter and wire
  parameter int unsigned IndexBits  = $clog2(Qps),
  parameter int unsigned WaitBits   = $clog2(InFlight + 1)
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [31:0]            port_ipv4_i,
  input  wire logic [127:0]           port_ipv6_i,
  output logic                        ready_o,      // after reset: the QP table is in order
  input  wire logic                   hold_i,       // take no work request
  input  wire logic                   configure_i,
  input  wire qp_config_t             config_i,
  input  wire logic                   wr_valid_i,
  output logic                        wr_ready_o,
  input  wire work_request_t          wr_i,
  input  wire operands_t              operands_i,
  input  wire logic                   stale_i,
  input  wire logic [DataWidth-1:0]   pl_tdata_i,
  input  wire logic                   pl_tvalid_i,
  input  wire logic                   pl_tlast_i,
  output logic                        pl_tready_o,
  input  wire logic                   flushes_i,
  input  wire logic                   failed_i,
  input  wire logic [IndexBits-1:0]   failed_index_i,
  output logic                        start_valid_o,
  input  wire logic                   start_ready_i,
  output message_start_t              start_o,
  input  wire logic                   start_refused_i,
  input  wire generation_t            start_generation_i,
  output logic                        asks_o,
  output asked_t                      asked_o,        // by the QP at issued_index_o
  output logic      [4:0]             asks_limit_o,
  input  wire logic                   asks_room_i,
  // For QPs that obey credits: whether their newest message has one.
  input  wire logic                   admits_i,
  // What slows QPs down, and which may send now.
  input  wire logic                   notice_valid_i,
  input  wire roce_pkg::notice_t      notice_i,
  output logic      [Qps-1:0]         paced_o,
  // For QPs that repeat: what limits them, what they have issued, copies that are wanted.
  input  wire logic                   oldest_valid_i,
  input  wire logic [23:0]            oldest_i,
  input  wire logic                   held_valid_i,
  input  wire logic                   held_i,
  input  wire logic [IndexBits-1:0]   context_index_i,  // of these and of the copy
  input  wire logic                   copy_i,
  input  wire copy_t                  copied_i,
  output logic                        copy_waits_o,
  output logic                        issued_o,
  output logic      [IndexBits-1:0]   issued_index_o,
  output slot_t                       issued_slot_o,
  output logic      [23:0]            issued_more_o,    // PSNs than one
  output logic      [23:0]            issued_psn_o,     // the last that it uses
  output logic                        departed_valid_o,
  input  wire logic                   departed_ready_i,
  output departure_t                  departed_o,
  output logic                        departure_owed_o,
  output logic      [WaitBits-1:0]    departures_o,
  output logic                        departure_popped_o,
  output logic                        completion_valid_o,
  input  wire logic                   completion_ready_i,
  output completion_t                 completion_o,
  output logic      [DataWidth-1:0]   m_tdata_o,
  output logic      [DataWidth/8-1:0] m_tkeep_o,
  output logic                        m_tvalid_o,
  output logic                        m_tlast_o,
  output roce_pkg::vlan_tag_t         m_tag_o,
  input  wire logic                   m_tready_i,
  input  wire logic                   left_i        // the oldest frame from m_* is on the wire
);

  localparam int unsigned OffsetBits = $clog2(DataWidth / 8);

  logic                   lookup;
  logic [IndexBits-1:0]   lookup_index;
  sender_t                sender;

  qp_context #(
    .Qps      (Qps),
    .Ipv6     (Ipv6),
    .Reads    (Reads),
    .Datagrams(Datagrams)
  ) u_qp_context (
    .clk_i,
    .rst_ni,
    .ready_o,
    .configure_i,
    .config_i,
    .lookup_i      (lookup),
    .lookup_index_i(lookup_index),
    .sender_o      (sender)
  );

  logic                   wanted_valid, wanted_ready, wanted_discard;
  logic [OffsetBits-1:0]  wanted_offset;
  logic [31:0]            wanted_length;
  logic                   new_valid, new_ready, window_open, credit_open, limited;
  logic                   needs_receive, first;
  packet_t                new_packet;
  departure_t             new_departure;
  logic [23:0]            new_place;
  logic                   packet_valid, packet_ready;
  packet_t                packet;
  departure_t             departure;
  logic                   builder_ready, queue_ready;

  // A packet and what is due after it are handed over together.
  assign packet_ready = builder_ready && queue_ready;

  tx_segmenter #(
    .DataWidth(DataWidth),
    .Qps      (Qps),
    .Recovery (Recovery),
    .Reads    (Reads)
  ) u_segmenter (
    .clk_i,
    .rst_ni,
    .hold_i            (hold_i || !ready_o),
    .wr_valid_i,
    .wr_ready_o,
    .wr_i,
    .operands_i,
    .stale_i,
    .lookup_o          (lookup),
    .lookup_index_o    (lookup_index),
    .sender_i          (sender),
    .configure_i,
    .config_i,
    .flushes_i,
    .failed_i,
    .failed_index_i,
    .start_valid_o,
    .start_ready_i,
    .start_o,
    .start_refused_i,
    .start_generation_i,
    .asks_o,
    .asked_o,
    .asks_room_i,
    .payload_valid_o   (wanted_valid),
    .payload_ready_i   (wanted_ready),
    .payload_discard_o (wanted_discard),
    .payload_offset_o  (wanted_offset),
    .payload_length_o  (wanted_length),
    .paced_i           (paced_o[issued_index_o]),
    .open_i            (window_open && credit_open),
    .limited_i         (limited),
    .needs_receive_o   (needs_receive),
    .first_o           (first),
    .packet_valid_o    (new_valid),
    .packet_ready_i    (new_ready),
    .packet_o          (new_packet),
    .place_o           (new_place),
    .departure_o       (new_departure)
  );

  assign asks_limit_o = sender.read_limit;

  // Lets the segmenter work on the next message while the payload of this one
  // is still being taken.
  logic                   command_valid, command_ready, command_discard;
  logic [OffsetBits-1:0]  command_offset;
  logic [31:0]            command_length;

  stream_fifo #(
    .Width(1 + OffsetBits + 32),
    .Depth(2)
  ) u_commands (
    .clk_i,
    .rst_ni,
    .s_data_i ({wanted_discard, wanted_offset, wanted_length}),
    .s_valid_i(wanted_valid),
    .s_ready_o(wanted_ready),
    .m_data_o ({command_discard, command_offset, command_length}),
    .m_valid_o(command_valid),
    .m_ready_i(command_ready)
  );

  logic [DataWidth-1:0]   new_tdata, payload_tdata;
  logic                   new_tvalid, new_tready, payload_tvalid, payload_tready;
  logic [DataWidth-1:0]   aligned_tdata;
  logic                   aligned_tvalid, aligned_tready;

  payload_aligner #(
    .DataWidth(DataWidth)
  ) u_aligner (
    .clk_i,
    .rst_ni,
    .command_valid_i  (command_valid),
    .command_ready_o  (command_ready),
    .command_discard_i(command_discard),
    .command_offset_i (command_offset),
    .command_length_i (command_length),
    .s_tdata_i        (pl_tdata_i),
    .s_tvalid_i       (pl_tvalid_i),
    .s_tlast_i        (pl_tlast_i),
    .s_tready_o       (pl_tready_o),
    .m_tdata_o        (aligned_tdata),
    .m_tvalid_o       (aligned_tvalid),
    .m_tready_i       (aligned_tready)
  );

  // So that what takes payload is no part of the cycle that aligns it.
  stream_fifo #(
    .Width(DataWidth),
    .Depth(4)
  ) u_aligned (
    .clk_i,
    .rst_ni,
    .s_data_i (aligned_tdata),
    .s_valid_i(aligned_tvalid),
    .s_ready_o(aligned_tready),
    .m_data_o (new_tdata),
    .m_valid_o(new_tvalid),
    .m_ready_i(new_tready)
  );

  assign issued_index_o = new_departure.completion.qpn[IndexBits-1:0];
  assign issued_slot_o  = slot_t'(new_place);
  assign issued_more_o  = new_departure.psn - new_packet.psn;
  assign issued_psn_o   = new_departure.psn;

  if (Recovery != 0) begin : gen_recovery
    send_window #(
      .Qps(Qps)
    ) u_send_window (
      .clk_i,
      .oldest_valid_i,
      .oldest_index_i(context_index_i),
      .oldest_i,
      .held_valid_i,
      .held_index_i  (context_index_i),
      .held_i,
      .index_i       (issued_index_o),
      .path_mtu_i    (sender.path_mtu),
      .place_i       (new_place),
      .asks_i        (new_departure.asks),
      .open_o        (window_open)
    );

    replay_buffer #(
      .DataWidth(DataWidth),
      .Qps      (Qps),
      .Reads    (Reads)
    ) u_replay_buffer (
      .clk_i,
      .rst_ni,
      .configure_i,
      .config_i,
      .copy_i,
      .copy_index_i     (context_index_i),
      .copied_i,
      .copy_waits_o,
      .packet_valid_i   (new_valid),
      .packet_ready_o   (new_ready),
      .packet_i         (new_packet),
      .departure_i      (new_departure),
      .place_i          (new_place),
      .path_mtu_i       (sender.path_mtu),
      .packet_valid_o   (packet_valid),
      .packet_ready_i   (packet_ready),
      .packet_o         (packet),
      .departure_o      (departure),
      .issued_o,
      .payload_tdata_i  (new_tdata),
      .payload_tvalid_i (new_tvalid),
      .payload_tready_o (new_tready),
      .payload_tdata_o  (payload_tdata),
      .payload_tvalid_o (payload_tvalid),
      .payload_tready_i (payload_tready)
    );
  end else begin : gen_no_recovery
    logic unused_recovery;
    assign unused_recovery = ^{oldest_valid_i, oldest_i, held_valid_i, held_i, context_index_i,
                               copy_i, copied_i, new_place};
    assign window_open    = 1'b1;
    assign packet_valid   = new_valid;
    assign new_ready      = packet_ready;
    assign packet         = new_packet;
    assign departure      = new_departure;
    assign issued_o       = 1'b0;
    assign copy_waits_o   = 1'b0;
    assign payload_tdata  = new_tdata;
    assign payload_tvalid = new_tvalid;
    assign new_tready     = payload_tready;
  end

  if (Credits != 0) begin : gen_credits
    credit_gate #(
      .Qps(Qps)
    ) u_credit_gate (
      .clk_i,
      .valid_i      (oldest_valid_i),
      .valid_index_i(context_index_i),
      .oldest_i,
      .admits_i,
      .index_i      (issued_index_o),
      .place_i      (new_place),
      .needs_i      (needs_receive),
      .first_i      (first),
      .sent_i       (new_valid && new_ready),
      .open_o       (credit_open),
      .limited_o    (limited)
    );
  end else begin : gen_no_credits
    logic unused_credits;
    assign unused_credits = ^{admits_i, needs_receive, first};
    assign credit_open    = 1'b1;
    assign limited        = 1'b0;
  end

  if (Reacts != 0) begin : gen_reacts
    logic [Qps-1:0]       slowed;
    logic [IndexBits-1:0] next_index, index;
    rate_t                rate;

    reaction_point #(
      .Qps         (Qps),
      .Ipv6        (Ipv6),
      .PeriodCycles(Period),
      .Slowest     (Slowest)
    ) u_reaction_point (
      .clk_i,
      .rst_ni,
      .configure_i,
      .config_i,
      .notice_valid_i,
      .notice_i,
      .slowed_o    (slowed),
      .next_index_o(next_index),
      .index_o     (index),
      .rate_o      (rate)
    );

    pacer #(
      .DataWidth(DataWidth),
      .Qps      (Qps)
    ) u_pacer (
      .clk_i,
      .rst_ni,
      .configure_i,
      .configured_i(config_i.local_qpn[IndexBits-1:0]),
      .leaves_i    (packet_valid && packet_ready && !packet.discard),
      .leaving_i   (departure.completion.qpn[IndexBits-1:0]),
      .bytes_i     (packet.payload_bytes[13:0] + 14'(header_bytes(packet.extensions))
                    + 14'(IcrcBytes)),
      .slowed_i    (slowed),
      .next_index_i(next_index),
      .index_i     (index),
      .rate_i      (rate),
      .open_o      (paced_o)
    );
  end else begin : gen_does_not_react
    logic unused_notices;
    assign unused_notices = ^{notice_valid_i, notice_i};
    assign paced_o        = '1;
  end

  logic                   frame_valid, frame_ready;
  frame_t                 frame;

  header_builder #(
    .Ipv6(Ipv6),
    .Vlan(Vlan)
  ) u_header_builder (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_ipv4_i,
    .port_ipv6_i,
    .packet_valid_i(packet_valid && queue_ready),
    .packet_ready_o(builder_ready),
    .packet_i      (packet),
    .frame_valid_o (frame_valid),
    .frame_ready_i (frame_ready),
    .frame_o       (frame)
  );

  logic [DataWidth-1:0]   open_tdata;
  logic [DataWidth/8-1:0] open_tkeep;
  logic                   open_tvalid, open_tlast, open_tready;
  logic [13:0]            icrc_offset;
  logic                   over_ipv6;
  roce_pkg::vlan_tag_t    tag;

  packet_assembler #(
    .DataWidth(DataWidth),
    .Ipv6     (Ipv6),
    .Reads    (Reads)
  ) u_assembler (
    .clk_i,
    .rst_ni,
    .frame_valid_i   (frame_valid),
    .frame_ready_o   (frame_ready),
    .frame_i         (frame),
    .payload_tdata_i (payload_tdata),
    .payload_tvalid_i(payload_tvalid),
    .payload_tready_o(payload_tready),
    .m_tdata_o       (open_tdata),
    .m_tkeep_o       (open_tkeep),
    .m_tvalid_o      (open_tvalid),
    .m_tlast_o       (open_tlast),
    .m_tready_i      (open_tready),
    .m_icrc_offset_o (icrc_offset),
    .m_ipv6_o        (over_ipv6),
    .m_tag_o         (tag)
  );

  icrc_insert #(
    .DataWidth(DataWidth)
  ) u_icrc_insert (
    .clk_i,
    .rst_ni,
    .s_tdata_i      (open_tdata),
    .s_tkeep_i      (open_tkeep),
    .s_tvalid_i     (open_tvalid),
    .s_tlast_i      (open_tlast),
    .s_tready_o     (open_tready),
    .s_icrc_offset_i(icrc_offset),
    .s_ipv6_i       (over_ipv6),
    .s_tag_i        (Vlan != 0 ? tag : '0),
    .m_tdata_o,
    .m_tkeep_o,
    .m_tvalid_o,
    .m_tlast_o,
    .m_tag_o,
    .m_tready_i
  );

  departure_queue #(
    .Depth(InFlight)
  ) u_departures (
    .clk_i,
    .rst_ni,
    .push_valid_i      (packet_valid && builder_ready),
    .push_ready_o      (queue_ready),
    .push_i            (departure),
    .left_i,
    .tracked_valid_o   (departed_valid_o),
    .tracked_ready_i   (departed_ready_i),
    .tracked_o         (departed_o),
    .completion_valid_o,
    .completion_ready_i,
    .completion_o,
    .owed_o            (departure_owed_o),
    .waiting_o         (departures_o),
    .popped_o          (departure_popped_o)
  );

endmodule

`default_nettype wire
