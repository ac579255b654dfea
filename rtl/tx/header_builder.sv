// SPDX-License-Identifier: BSD-2-Clause
//
// Writes the headers of each packet, Ethernet to ImmDt, AtomicETH or what an ACK has there, over IPv4 or with
// Ipv6 over either, and computes the lengths that follow from them: PadCnt, UDP and IP length, frame length and
// the place of the ICRC. One packet in two cycles, through register stages each
// of which takes a packet when it has none.

`default_nettype none

module header_builder
  import roce_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned Ipv6    = 0,
  parameter int unsigned Vlan    = 0,  // 1: the shortest frame counts the tag that it will have
  parameter int unsigned Notices = 0   // 1: all packets are notifications of congestion
) (
  input  wire logic         clk_i,
  input  wire logic         rst_ni,
  input  wire logic [47:0]  port_mac_i,
  input  wire logic [31:0]  port_ipv4_i,
  input  wire logic [127:0] port_ipv6_i,
  input  wire logic         packet_valid_i,
  output logic              packet_ready_o,
  input  wire packet_t      packet_i,
  output logic              frame_valid_o,
  input  wire logic         frame_ready_i,
  output frame_t            frame_o
);

  // The parts of an IPv4 packet that count into its total length.
  localparam int unsigned EthernetBytes = $bits(ethernet_t) / 8;
  localparam int unsigned Ipv4Bytes     = $bits(ipv4_t) / 8;

  // Over IPv4: all headers, and those behind IPv4's.
  localparam int unsigned OverIpv4Bits  = $bits(header_t) - 8 * Ipv6MoreBytes;
  localparam int unsigned TransportBits = OverIpv4Bits - $bits(ethernet_t) - $bits(ipv4_t);

  localparam int unsigned Ipv4At = $bits(header_t) - 1 - $bits(ethernet_t);

  // Stages, by what is known of the packet in them.
  localparam int unsigned Taken    = 0;
  localparam int unsigned Placed   = 1;  // where its ICRC is
  localparam int unsigned Built    = 2;  // all but the checksum
  localparam int unsigned Added    = 3;
  localparam int unsigned Finished = 4;

  // Of the words of the IPv4 header, every second.
  typedef struct packed {
    logic [18:0] low;
    logic [18:0] high;
  } sums_t;

  logic [Finished:0] valid_q, moves;
  packet_t           taken_q, placed_q;
  logic [13:0]       icrc_offset_q;
  frame_t            built_q, added_q;
  sums_t             sums_q;

  assign packet_ready_o = !valid_q[Taken];
  assign frame_valid_o  = valid_q[Finished];
  assign moves          = valid_q & {frame_ready_i, ~valid_q[Finished:1]};

  always_ff @(posedge clk_i) begin
    if (packet_ready_o) taken_q <= packet_i;
    if (moves[Taken]) begin
      placed_q      <= taken_q;
      icrc_offset_q <= place(taken_q);
    end
    if (moves[Placed]) built_q <= build(placed_q, icrc_offset_q);
    if (moves[Built]) begin
      added_q <= built_q;
      sums_q  <= add(built_q.header[Ipv4At-:$bits(ipv4_t)]);
    end
    if (moves[Added]) begin
      frame_o        <= added_q;
      if (Ipv6 == 0 || !added_q.extensions.ipv6) frame_o.header <= finish(added_q.header, sums_q);
    end

    valid_q <= (valid_q & ~moves) | {moves[Finished-1:0], packet_valid_i && packet_ready_o};
    if (!rst_ni) valid_q <= '0;
  end

  function automatic logic [1:0] pad_count(packet_t packet);
    return -packet.payload_bytes[1:0];
  endfunction

  // Where the ICRC is.
  function automatic logic [13:0] place(packet_t packet);
    return 14'(header_bytes(packet.extensions)) + packet.payload_bytes[13:0]
        + 14'(pad_count(packet));
  endfunction

  // All but the IPv4 checksum, which is zero here.
  function automatic frame_t build(packet_t packet, logic [13:0] icrc_offset);
    ethernet_t   ethernet;
    ipv4_t       ipv4;
    ipv6_t       ipv6;
    udp_t        udp;
    bth_t        bth;
    frame_t      frame;
    logic [13:0] packet_end, shortest;
    logic        is_ipv6;
    logic [OverIpv4Bits-1:0] over_ipv4;

    bth           = '0;
    bth.opcode    = packet.opcode;
    bth.solicited = packet.solicited;
    bth.mig_req   = 1'b1;
    bth.pad_count = pad_count(packet);
    bth.pkey      = 16'hffff;
    bth.dest_qpn  = packet.path.remote_qpn;
    bth.ack_req   = packet.ack_req;
    bth.psn       = packet.psn;
    if (Notices != 0) begin
      bth.mig_req   = 1'b0;
      bth.fecn_becn = BecnOnly;
    end

    packet_end  = icrc_offset + 14'(IcrcBytes);
    shortest    = 14'(MinFrameBytes);
    if (Vlan != 0 && packet.path.tag.present) shortest -= 14'(VlanTagBytes);

    ipv4               = '0;
    ipv4.version       = 4'd4;
    ipv4.ihl           = 4'd5;
    ipv4.tos           = packet.path.traffic_class;
    ipv4.total_length  = 16'(packet_end) - 16'(EthernetBytes);
    ipv4.id            = packet.ip_id;
    ipv4.dont_fragment = 1'b1;
    ipv4.ttl           = packet.path.hop_limit;
    ipv4.protocol      = IpProtoUdp;
    ipv4.src           = port_ipv4_i;
    ipv4.dst           = packet.path.remote_gid[31:0];

    udp          = '0;
    udp.src_port = packet.path.udp_sport;
    udp.dst_port = RoceUdpPort;
    udp.length   = ipv4.total_length - 16'(Ipv4Bytes);
    is_ipv6      = Ipv6 != 0 && packet.extensions.ipv6;
    if (is_ipv6) udp.length -= 16'(Ipv6MoreBytes);

    ipv6                = '0;
    ipv6.version        = 4'd6;
    ipv6.traffic_class  = ipv4.tos;
    ipv6.payload_length = udp.length;
    ipv6.next_header    = ipv4.protocol;
    ipv6.hop_limit      = ipv4.ttl;
    ipv6.src            = port_ipv6_i;
    ipv6.dst            = packet.path.remote_gid;

    ethernet.dst_mac    = packet.path.remote_mac;
    ethernet.src_mac    = port_mac_i;
    ethernet.ether_type = EtherTypeIpv4;

    frame.discard       = packet.discard;
    frame.payload_bytes = packet.payload_bytes;
    frame.extensions    = packet.extensions;
    frame.icrc_offset   = icrc_offset;
    frame.tag           = packet.path.tag;
    frame.frame_bytes   = packet_end < shortest ? shortest : packet_end;
    unique case ({packet.extensions.reth, packet.extensions.immdt})
      2'b00: over_ipv4 = {ethernet, ipv4, udp, bth, 224'd0};
      2'b01: over_ipv4 = {ethernet, ipv4, udp, bth, packet.immediate, packet.original, 128'd0};
      2'b10: over_ipv4 = {ethernet, ipv4, udp, bth, packet.reth, 96'd0};
      2'b11: over_ipv4 = {{ethernet, ipv4, udp, bth, packet.reth, packet.immediate}, packet.original};
    endcase
    if (packet.extensions.deth) begin
      over_ipv4 = {ethernet, ipv4, udp, bth, packet.reth.virtual_address,
                   packet.extensions.immdt ? packet.immediate : 32'd0, 128'd0};
    end
    frame.header = {over_ipv4, (8*Ipv6MoreBytes)'(0)};
    if (is_ipv6) begin
      ethernet.ether_type = EtherTypeIpv6;
      frame.header        = {ethernet, ipv6, over_ipv4[TransportBits-1:0]};
    end
    return frame;
  endfunction

  function automatic sums_t add(ipv4_t ipv4);
    sums_t sums;
    sums = '0;
    for (int unsigned word = 0; word < Ipv4Bytes / 4; word++) begin
      sums.low  += 19'(ipv4[32*word+:16]);
      sums.high += 19'(ipv4[32*word+16+:16]);
    end
    return sums;
  endfunction

  // One's complement of the one's complement sum of the header's words.
  function automatic logic [15:0] ipv4_checksum(sums_t sums);
    logic [19:0] sum;
    logic [16:0] folded;
    sum    = 20'(sums.low) + 20'(sums.high);
    folded = 17'(sum[15:0]) + 17'(sum[19:16]);
    return ~(folded[15:0] + 16'(folded[16]));
  endfunction

  function automatic header_t finish(header_t header, sums_t sums);
    ipv4_t ipv4;
    ipv4          = header[Ipv4At-:$bits(ipv4_t)];
    ipv4.checksum = ipv4_checksum(sums);
    finish                        = header;
    finish[Ipv4At-:$bits(ipv4_t)] = ipv4;
  endfunction

endmodule

`default_nettype wire
