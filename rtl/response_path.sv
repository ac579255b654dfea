// SPDX-License-Identifier: BSD-2-Clause
//
// From answers to frames with ICRC. An ACKNOWLEDGE has its AETH where other
// packets have their immediate, so the transmit half's stages build it.

`default_nettype none

module response_path
  import roce_tx_pkg::*;
  import responder_pkg::answer_t;
#(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [31:0]            port_ipv4_i,

  input  wire logic                   answer_valid_i,
  output      logic                   answer_ready_o,
  input  wire answer_t                answer_i,

  output      logic [DataWidth-1:0]   m_tdata_o,
  output      logic [DataWidth/8-1:0] m_tkeep_o,
  output      logic                   m_tvalid_o,
  output      logic                   m_tlast_o,
  input  wire logic                   m_tready_i
);

  // Don't Fragment is set, so the identification has nothing to identify.
  packet_t packet;
  always_comb begin
    packet                  = '0;
    packet.path             = answer_i.path;
    packet.opcode           = roce_pkg::RcAcknowledge;
    packet.psn              = answer_i.psn;
    packet.extensions.immdt = 1'b1;
    packet.immediate        = {answer_i.syndrome, answer_i.msn};
  end

  logic                   frame_valid, frame_ready, unused_payload_tready;
  frame_t                 frame;
  logic [DataWidth-1:0]   open_tdata;
  logic [DataWidth/8-1:0] open_tkeep;
  logic                   open_tvalid, open_tlast, open_tready;
  logic [13:0]            icrc_offset;

  header_builder u_header_builder (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_ipv4_i,
    .packet_valid_i(answer_valid_i),
    .packet_ready_o(answer_ready_o),
    .packet_i      (packet),
    .frame_valid_o (frame_valid),
    .frame_ready_i (frame_ready),
    .frame_o       (frame)
  );

  packet_assembler #(
    .DataWidth(DataWidth)
  ) u_assembler (
    .clk_i,
    .rst_ni,
    .frame_valid_i   (frame_valid),
    .frame_ready_o   (frame_ready),
    .frame_i         (frame),
    .payload_tdata_i ('0),
    .payload_tvalid_i(1'b0),
    .payload_tready_o(unused_payload_tready),
    .m_tdata_o       (open_tdata),
    .m_tkeep_o       (open_tkeep),
    .m_tvalid_o      (open_tvalid),
    .m_tlast_o       (open_tlast),
    .m_tready_i      (open_tready),
    .m_icrc_offset_o (icrc_offset)
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
    .m_tdata_o,
    .m_tkeep_o,
    .m_tvalid_o,
    .m_tlast_o,
    .m_tready_i
  );

endmodule

`default_nettype wire
