// SPDX-License-Identifier: BSD-2-Clause
//
// From answers to frames with ICRC, in order; what READs ask for is fetched from
// memory on the way, some packets ahead. An AETH stands where other packets have
// their immediate, so the transmit half's stages build the frames. When a frame
// leaves, its note says whose READ ends with it. With Notices, notifications of
// congestion go between them, in turns, in front of what waits for memory or wire.

`default_nettype none

module response_path
  import roce_tx_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::memory_command_t;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Ipv6      = 0,
  parameter int unsigned Vlan      = 0,
  parameter int unsigned Notices   = 0
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [31:0]            port_ipv4_i,
  input  wire logic [127:0]           port_ipv6_i,

  input  wire logic                   answer_valid_i,
  output      logic                   answer_ready_o,
  input  wire answer_t                answer_i,

  output      logic                   command_valid_o,
  input  wire logic                   command_ready_i,
  output      memory_command_t        command_o,
  input  wire logic [DataWidth-1:0]   read_tdata_i,
  input  wire logic [DataWidth/8-1:0] read_tkeep_i,
  input  wire logic                   read_tvalid_i,
  output      logic                   read_tready_o,

  input  wire logic                   notice_valid_i,
  output      logic                   notice_ready_o,
  input  wire path_t                  notice_i,

  output      logic                   left_o,
  output      read_note_t             note_o,

  output      logic [DataWidth-1:0]   m_tdata_o,
  output      logic [DataWidth/8-1:0] m_tkeep_o,
  output      logic                   m_tvalid_o,
  output      logic                   m_tlast_o,
  output      roce_pkg::vlan_tag_t    m_tag_o,
  input  wire logic                   m_tready_i
);

  localparam int unsigned Ahead    = 8;   // packets, while their data come from memory
  localparam int unsigned InFlight = 32;  // frames

  logic            cut_valid, cut_ready, ask_valid, ask_ready, packet_valid, packet_ready;
  logic            packet_room, note_room, unused_note_valid;
  packet_t         cut, packet;
  read_note_t      cut_note;
  memory_command_t ask;

  assign cut_ready = packet_room && note_room;

  response_segmenter u_segmenter (
    .clk_i,
    .rst_ni,
    .answer_valid_i,
    .answer_ready_o,
    .answer_i,
    .packet_valid_o (cut_valid),
    .packet_ready_i (cut_ready),
    .packet_o       (cut),
    .note_o         (cut_note),
    .command_valid_o(ask_valid),
    .command_ready_i(ask_ready),
    .command_o      (ask)
  );

  stream_fifo #(
    .Width($bits(packet_t)),
    .Depth(Ahead)
  ) u_packets (
    .clk_i,
    .rst_ni,
    .s_data_i (cut),
    .s_valid_i(cut_valid && note_room),
    .s_ready_o(packet_room),
    .m_data_o (packet),
    .m_valid_o(packet_valid),
    .m_ready_i(packet_ready)
  );

  stream_fifo #(
    .Width($bits(memory_command_t)),
    .Depth(Ahead)
  ) u_commands (
    .clk_i,
    .rst_ni,
    .s_data_i (ask),
    .s_valid_i(ask_valid),
    .s_ready_o(ask_ready),
    .m_data_o (command_o),
    .m_valid_o(command_valid_o),
    .m_ready_i(command_ready_i)
  );

  stream_fifo #(
    .Width($bits(read_note_t)),
    .Depth(InFlight)
  ) u_notes (
    .clk_i,
    .rst_ni,
    .s_data_i (cut_note),
    .s_valid_i(cut_valid && packet_room),
    .s_ready_o(note_room),
    .m_data_o (note_o),
    .m_valid_o(unused_note_valid),
    .m_ready_i(left_o)
  );

  // Behind the last byte come pads, which are zero.
  logic [DataWidth-1:0] payload_tdata;
  always_comb begin
    for (int unsigned lane = 0; lane < DataWidth / 8; lane++) begin
      payload_tdata[8*lane+:8] = read_tkeep_i[lane] ? read_tdata_i[8*lane+:8] : '0;
    end
  end

  logic                   answer_valid, answer_ready, frame_valid, frame_ready, frame_left;
  frame_t                 answer, frame;
  logic [DataWidth-1:0]   open_tdata;
  logic [DataWidth/8-1:0] open_tkeep;
  logic                   open_tvalid, open_tlast, open_tready;
  logic [13:0]            icrc_offset;
  logic                   over_ipv6;
  roce_pkg::vlan_tag_t    tag;

  header_builder #(
    .Ipv6(Ipv6),
    .Vlan(Vlan)
  ) u_header_builder (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_ipv4_i,
    .port_ipv6_i,
    .packet_valid_i(packet_valid),
    .packet_ready_o(packet_ready),
    .packet_i      (packet),
    .frame_valid_o (answer_valid),
    .frame_ready_i (answer_ready),
    .frame_o       (answer)
  );

  assign frame_left = m_tvalid_o && m_tready_i && m_tlast_o;

  if (Notices != 0) begin : gen_notices
    packet_t notice_packet;
    frame_t  notice;
    logic    notice_valid, takes_notice, took_notice_q, left_is_notice, left_valid, kinds_room;

    always_comb begin
      notice_packet                 = '0;
      notice_packet.path            = notice_i;
      notice_packet.opcode          = roce_pkg::Cnp;
      notice_packet.extensions.ipv6 = notice_i.ipv6;
      notice_packet.extensions.reth = 1'b1;  // sixteen zero bytes in its place
    end

    header_builder #(
      .Ipv6   (Ipv6),
      .Vlan   (Vlan),
      .Notices(1)
    ) u_notice_builder (
      .clk_i,
      .rst_ni,
      .port_mac_i,
      .port_ipv4_i,
      .port_ipv6_i,
      .packet_valid_i(notice_valid_i),
      .packet_ready_o(notice_ready_o),
      .packet_i      (notice_packet),
      .frame_valid_o (notice_valid),
      .frame_ready_i (frame_ready && takes_notice),
      .frame_o       (notice)
    );

    stream_fifo #(
      .Width(1),
      .Depth(InFlight)
    ) u_kinds (
      .clk_i,
      .rst_ni,
      .s_data_i (takes_notice),
      .s_valid_i(frame_valid && frame_ready),
      .s_ready_o(kinds_room),
      .m_data_o (left_is_notice),
      .m_valid_o(left_valid),
      .m_ready_i(frame_left)
    );

    assign takes_notice = notice_valid && !(answer_valid && took_notice_q);
    assign answer_ready = frame_ready && !takes_notice;
    assign frame_valid  = notice_valid || answer_valid;
    assign frame        = takes_notice ? notice : answer;
    assign left_o       = frame_left && !left_is_notice;

    always_ff @(posedge clk_i) begin
      if (frame_valid && frame_ready) took_notice_q <= takes_notice;
      if (!rst_ni) took_notice_q <= 1'b0;
    end

    kinds_fit: assert property (@(posedge clk_i) disable iff (!rst_ni)
        frame_valid && frame_ready |-> kinds_room);
    kinds_are_known: assert property (@(posedge clk_i) disable iff (!rst_ni)
        frame_left |-> left_valid);
  end else begin : gen_no_notices
    logic unused_notice;
    assign unused_notice  = ^{notice_valid_i, notice_i};
    assign notice_ready_o = 1'b0;
    assign answer_ready   = frame_ready;
    assign frame_valid    = answer_valid;
    assign frame          = answer;
    assign left_o         = frame_left;
  end

  packet_assembler #(
    .DataWidth(DataWidth),
    .Ipv6     (Ipv6)
  ) u_assembler (
    .clk_i,
    .rst_ni,
    .frame_valid_i   (frame_valid),
    .frame_ready_o   (frame_ready),
    .frame_i         (frame),
    .payload_tdata_i (payload_tdata),
    .payload_tvalid_i(read_tvalid_i),
    .payload_tready_o(read_tready_o),
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

endmodule

`default_nettype wire
