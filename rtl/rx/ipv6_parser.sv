// SPDX-License-Identifier: BSD-2-Clause
//
// What rx_parser needs to know of a frame with an IPv6 packet. Takes the stream of
// rx_window; with the last beat is_whole_o says that the frame holds all of such a
// packet, and packet_o is what an IPv4 header in the same place would make of it,
// so that one look is enough for both. Bytes behind what the window shows are
// caught as they pass.

`default_nettype none

module ipv6_parser
  import roce_pkg::*;
  import rx_header_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  localparam int unsigned Lanes    = DataWidth / 8,
  localparam int unsigned BeatBits = 16 - $clog2(Lanes)
) (
  input  wire logic                 clk_i,
  input  wire logic [47:0]          port_mac_i,
  input  wire logic [127:0]         port_ipv6_i,

  input  wire logic                 valid_i,
  input  wire logic [DataWidth-1:0] data_i,
  input  wire logic [BeatBits-1:0]  beat_i,
  input  wire frame_header_t        header_i,
  input  wire icrc_pkg::position_t  length_i,

  output      logic                 is_whole_o,
  output      ipv6_t                ip_o,
  output      ipv4_packet_t         packet_o,
  output      logic                 is_to_port_o,
  output      logic                 is_echo_o,          // request
  output      logic                 is_solicitation_o   // of the port's MAC address
);

  localparam int unsigned HeadBytes         = ($bits(ethernet_t) + $bits(ipv6_t)) / 8;
  localparam int unsigned LateBytes         = ($bits(ipv6_t) - $bits(ipv4_t)) / 8;
  localparam logic [15:0] EchoBytes         = 16'd8;
  localparam logic [15:0] SolicitationBytes = 16'd24;

  typedef struct packed {
    ipv6_t                                ip;
    logic [8*(WindowBytes-HeadBytes)-1:0] payload;
  } ipv6_packet_t;

  logic [LateBytes-1:0][7:0] late, late_q;  // the first on the wire is the most significant

  always_comb begin
    late = late_q;
    for (int unsigned i = 0; i < LateBytes; i++) begin
      if (beat_i == BeatBits'((WindowBytes + i) / Lanes)) begin
        late[LateBytes-1-i] = data_i[8*((WindowBytes+i)%Lanes)+:8];
      end
    end
  end

  always_ff @(posedge clk_i) if (valid_i) late_q <= late;

  ipv6_packet_t  packet;
  icmp_t         icmp;
  solicitation_t solicitation;
  logic          to_mac, to_group;

  assign packet       = ipv6_packet_t'(header_i.payload);
  assign icmp         = icmp_t'(packet_o.payload);
  assign solicitation = solicitation_t'(packet_o.payload);
  assign ip_o         = packet.ip;

  always_comb begin
    packet_o                 = '0;
    packet_o.ip.protocol     = packet.ip.next_header;
    packet_o.ip.total_length = packet.ip.payload_length + 16'($bits(ipv4_t) / 8);
    packet_o.payload         = {packet.payload, late};
  end

  assign is_whole_o = header_i.ethernet.ether_type == EtherTypeIpv6 && packet.ip.version == 4'd6
      && 17'(packet.ip.payload_length) + 17'(HeadBytes) <= 17'(length_i);

  assign to_mac       = header_i.ethernet.dst_mac == port_mac_i;
  assign is_to_port_o = to_mac && packet.ip.dst == port_ipv6_i;
  assign to_group     = header_i.ethernet.dst_mac == {24'h3333FF, port_ipv6_i[23:0]}
      && packet.ip.dst == {SolicitedNode, port_ipv6_i[23:0]};

  assign is_echo_o = packet.ip.next_header == IpProtoIcmpv6 && packet.ip.payload_length >= EchoBytes
      && icmp.icmp_type == 8'd128 && icmp.code == 8'd0;

  assign is_solicitation_o = packet.ip.next_header == IpProtoIcmpv6
      && packet.ip.payload_length >= SolicitationBytes && packet.ip.hop_limit == 8'd255
      && solicitation.icmp_type == 8'd135 && solicitation.code == 8'd0
      && solicitation.target == port_ipv6_i && (is_to_port_o || to_group);

endmodule

`default_nettype wire
