// SPDX-License-Identifier: BSD-2-Clause
//
// Answers ARP requests: a reply of 60 bytes with its tag, zero padded, to the station that
// asked, with the tag of its request beside it. A request that comes while a reply is
// waiting to leave is dropped; the asker repeats it.

`default_nettype none

module arp_reply
  import rx_header_pkg::*;
#(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,

  input  wire logic                   request_i,
  input  wire frame_header_t          header_i,
  input  wire roce_pkg::vlan_tag_t    tag_i,

  output      logic [DataWidth-1:0]   m_tdata_o,
  output      logic [DataWidth/8-1:0] m_tkeep_o,
  output      logic                   m_tvalid_o,
  output      logic                   m_tlast_o,
  output      roce_pkg::vlan_tag_t    m_tag_o,
  input  wire logic                   m_tready_i
);

  localparam int unsigned Lanes      = DataWidth / 8;
  localparam int unsigned FrameBytes = 60;
  localparam int unsigned Beats      = (FrameBytes + Lanes - 1) / Lanes;
  localparam int unsigned BeatBits   = Beats > 1 ? $clog2(Beats) : 1;
  localparam int unsigned TagBytes   = 4;

  logic [47:0]         asker_mac_q;
  logic [31:0]         asker_ipv4_q, port_ipv4_q;
  logic [BeatBits-1:0] beat_q;

  arp_t request, reply;
  assign request = arp_t'(header_i.payload);

  always_comb begin
    reply.hardware_type   = 16'd1;
    reply.protocol_type   = roce_pkg::EtherTypeIpv4;
    reply.hardware_length = 8'd6;
    reply.protocol_length = 8'd4;
    reply.operation       = 16'd2;
    reply.sender_mac      = port_mac_i;
    reply.sender_ipv4     = port_ipv4_q;
    reply.target_mac      = asker_mac_q;
    reply.target_ipv4     = asker_ipv4_q;
    reply.rest            = '0;
  end

  // As many whole beats as the frame takes.
  logic [Beats*DataWidth-1:0] frame;
  assign frame = (Beats * DataWidth)'(swap_bytes(
      {asker_mac_q, port_mac_i, roce_pkg::EtherTypeArp, reply}));

  // How many bytes a last beat leaves free, and which beat it is.
  function automatic int unsigned spare(int unsigned bytes);
    return (bytes + Lanes - 1) / Lanes * Lanes - bytes;
  endfunction

  function automatic logic [BeatBits-1:0] last_beat(int unsigned bytes);
    return BeatBits'((bytes + Lanes - 1) / Lanes - 1);
  endfunction

  logic [Lanes-1:0] last_keep;
  assign last_keep = m_tag_o.present ? {Lanes{1'b1}} >> spare(FrameBytes - TagBytes)
                                     : {Lanes{1'b1}} >> spare(FrameBytes);
  assign m_tlast_o = beat_q == (m_tag_o.present ? last_beat(FrameBytes - TagBytes)
                                                : last_beat(FrameBytes));
  assign m_tkeep_o = m_tlast_o ? last_keep : '1;
  assign m_tdata_o = frame[beat_q*DataWidth+:DataWidth];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      m_tvalid_o <= 1'b0;
    end else if (!m_tvalid_o) begin
      if (request_i) begin
        m_tvalid_o   <= 1'b1;
        beat_q       <= '0;
        m_tag_o      <= tag_i;
        asker_mac_q  <= request.sender_mac;
        asker_ipv4_q <= request.sender_ipv4;
        port_ipv4_q  <= request.target_ipv4;
      end
    end else if (m_tready_i) begin
      m_tvalid_o <= !m_tlast_o;
      beat_q     <= beat_q + 1'b1;
    end
  end

endmodule

`default_nettype wire
