// SPDX-License-Identifier: BSD-2-Clause
//
// Says what a received frame is. Takes the stream of rx_window and passes it
// on one cycle later. In the cycle of the last beat kind_o says what the frame
// is (otherwise it is zero) and header_o holds its headers. Those of an IPv6 packet
// are there as if it were of IPv4, and its own header is ipv6_o, which is zero of
// others. Only untagged frames to this port's MAC (ARP: or broadcast) and address
// have a kind; all else, and every frame marked for discard, has none.

`default_nettype none

module rx_parser
  import rx_header_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Ipv6      = 0,
  localparam int unsigned LaneBits = $clog2(DataWidth / 8),
  localparam int unsigned BeatBits = 16 - LaneBits
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic [47:0]          port_mac_i,
  input  wire logic [127:0]         port_gid_i,
  input  wire logic [127:0]         port_ipv6_i,

  input  wire logic                 valid_i,
  input  wire logic [DataWidth-1:0] data_i,
  input  wire logic                 last_i,
  input  wire logic [BeatBits-1:0]  beat_i,
  input  wire window_t              window_i,
  input  wire icrc_pkg::position_t  length_i,
  input  wire logic                 discard_i,

  output      logic                 valid_o,
  output      logic [DataWidth-1:0] data_o,
  output      logic                 last_o,
  output      logic [BeatBits-1:0]  beat_o,
  output      frame_kind_t          kind_o,
  output      frame_header_t        header_o,
  output      roce_pkg::ipv6_t      ipv6_o
);

  localparam logic [15:0] EthernetBytes = 16'd14;
  localparam logic [15:0] ArpBytes      = 16'd28;
  localparam logic [15:0] Ipv4Bytes     = 16'd20;
  localparam logic [15:0] IcmpBytes     = 16'd8;
  localparam logic [15:0] AckBytes      = 16'd28;  // UDP header, BTH, AETH, ICRC
  localparam logic [15:0] RoceBytes     = 16'd24;  // UDP header, BTH, ICRC
  localparam logic [15:0] CnpBytes      = 16'd40;  // UDP header, BTH, 16 reserved bytes, ICRC

  frame_header_t header;
  ipv4_packet_t  packet;
  roce_ack_t     roce;
  icmp_t         icmp;
  arp_t          arp;

  // Of an IPv6 packet.
  logic            is_ipv6, to_ipv6, is_ipv6_echo, is_solicitation;
  roce_pkg::ipv6_t ipv6;
  ipv4_packet_t    ipv6_packet;

  if (Ipv6 != 0) begin : gen_ipv6
    ipv6_parser #(
      .DataWidth(DataWidth)
    ) u_ipv6_parser (
      .clk_i,
      .port_mac_i,
      .port_ipv6_i,
      .valid_i,
      .data_i,
      .beat_i,
      .header_i         (header),
      .length_i,
      .is_whole_o       (is_ipv6),
      .ip_o             (ipv6),
      .packet_o         (ipv6_packet),
      .is_to_port_o     (to_ipv6),
      .is_echo_o        (is_ipv6_echo),
      .is_solicitation_o(is_solicitation)
    );
  end else begin : gen_no_ipv6
    logic unused_ipv6;
    assign unused_ipv6     = ^{port_ipv6_i, to_ipv6, is_ipv6_echo, is_solicitation, ipv6};
    assign is_ipv6         = 1'b0;
    assign to_ipv6         = 1'b0;
    assign is_ipv6_echo    = 1'b0;
    assign is_solicitation = 1'b0;
    assign ipv6            = '0;
    assign ipv6_packet     = '0;
  end

  // The window is whole, and looked at, with the last beat only.
  logic settled;
  assign settled = valid_i && last_i;

  assign header = frame_header_t'(swap_bytes(window_i));
  assign packet = is_ipv6 ? ipv6_packet : ipv4_packet_t'(header.payload);
  assign roce   = roce_ack_t'(packet.payload);
  assign icmp   = icmp_t'(packet.payload);
  assign arp    = arp_t'(header.payload);

  logic        port_has_ipv4, to_mac, to_ipv4, is_arp, is_ack, is_echo;
  logic [31:0] port_ipv4;

  assign port_has_ipv4 = port_gid_i[127:32] == 96'hFFFF;
  assign port_ipv4     = port_gid_i[31:0];
  assign to_mac        = header.ethernet.dst_mac == port_mac_i;

  assign is_arp = header.ethernet.ether_type == roce_pkg::EtherTypeArp
      && (to_mac || header.ethernet.dst_mac == '1)
      && length_i >= EthernetBytes + ArpBytes
      && arp.hardware_type == 16'd1 && arp.protocol_type == roce_pkg::EtherTypeIpv4
      && arp.hardware_length == 8'd6 && arp.protocol_length == 8'd4
      && arp.operation == 16'd1
      && arp.target_ipv4 == port_ipv4;

  assign to_ipv4 = header.ethernet.ether_type == roce_pkg::EtherTypeIpv4 && to_mac
      && packet.ip.version == 4'd4 && packet.ip.ihl == 4'd5
      && !packet.ip.more_fragments && packet.ip.fragment_offset == '0
      && packet.ip.dst == port_ipv4
      && packet.ip.total_length <= length_i - EthernetBytes;

  assign is_echo = packet.ip.protocol == roce_pkg::IpProtoIcmp
      && icmp.icmp_type == 8'd8 && icmp.code == 8'd0
      && packet.ip.total_length >= Ipv4Bytes + IcmpBytes;

  logic is_bare;  // RoCEv2 without payload: an ACK or a CNP
  assign is_bare = packet.ip.protocol == roce_pkg::IpProtoUdp
      && roce.udp.dst_port == roce_pkg::RoceUdpPort && roce.bth.pad_count == '0
      && roce.bth.tver == '0 && roce.bth.pkey[14:0] == 15'h7FFF;

  assign is_ack = is_bare && packet.ip.total_length == Ipv4Bytes + AckBytes
      && roce.udp.length == AckBytes
      && roce.bth.opcode == roce_pkg::RcAcknowledge;

  logic is_notice;
  assign is_notice = is_bare && packet.ip.total_length == Ipv4Bytes + CnpBytes
      && roce.udp.length == CnpBytes && roce.bth.opcode == roce_pkg::Cnp;

  // Of RC, UC or UD, and no acknowledgement: whether it is a request, and of whole
  // headers, is for those to say who know opcodes.
  logic is_request;
  assign is_request = packet.ip.protocol == roce_pkg::IpProtoUdp
      && roce.udp.dst_port == roce_pkg::RoceUdpPort
      && roce.udp.length >= RoceBytes && roce.udp.length == packet.ip.total_length - Ipv4Bytes
      && request_pkg::is_served_opcode(roce.bth.opcode)
      && roce.bth.opcode != roce_pkg::RcAcknowledge
      && roce.bth.pkey[14:0] == 15'h7FFF && roce.bth.tver == '0;

  // The kind as far as it is known without address and IPv4 header checksum, and
  // the sums that settle it one stage later: all words together give ones.
  frame_kind_t kind_q;
  logic        to_ipv4_q;  // or to_ipv6
  logic [18:0] even_sum_q, odd_sum_q;
  logic [19:0] sum;
  logic        sum_ok;

  function automatic logic [18:0] word_sum(roce_pkg::ipv4_t ip, int unsigned first);
    logic [159:0] words = ip;
    word_sum = '0;
    for (int unsigned i = first; i < 10; i += 2) word_sum += 19'(words[16*i+:16]);
  endfunction

  assign sum                 = 20'(even_sum_q) + 20'(odd_sum_q);
  assign sum_ok              = 17'(sum[15:0]) + 17'(sum[19:16]) == 17'h0FFFF
      || ipv6_o.version != '0;
  assign kind_o.arp_request  = kind_q.arp_request;
  assign kind_o.ack          = kind_q.ack && sum_ok && to_ipv4_q;
  assign kind_o.echo_request = kind_q.echo_request && sum_ok && to_ipv4_q;
  assign kind_o.request      = kind_q.request && sum_ok && to_ipv4_q;
  assign kind_o.notice       = kind_q.notice && sum_ok && to_ipv4_q;
  assign kind_o.solicitation = kind_q.solicitation;

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      data_o <= data_i;
      last_o <= last_i;
      beat_o <= beat_i;
    end
    kind_q <= '0;
    if (settled) begin
      kind_q.arp_request  <= !discard_i && port_has_ipv4 && is_arp;
      kind_q.ack          <= !discard_i && is_ack;
      kind_q.echo_request <= !discard_i && (is_ipv6 ? is_ipv6_echo : is_echo);
      kind_q.solicitation <= !discard_i && is_ipv6 && is_solicitation;
      kind_q.request      <= !discard_i && is_request;
      kind_q.notice       <= !discard_i && is_notice;
      to_ipv4_q           <= is_ipv6 ? to_ipv6 : port_has_ipv4 && to_ipv4;
      even_sum_q          <= word_sum(packet.ip, 0);
      odd_sum_q           <= word_sum(packet.ip, 1);
      header_o            <= '{ethernet: header.ethernet, payload: packet};
      ipv6_o              <= is_ipv6 ? ipv6 : '0;
    end
    valid_o <= valid_i && rst_ni;
  end

endmodule

`default_nettype wire
