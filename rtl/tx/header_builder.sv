// SPDX-License-Identifier: BSD-2-Clause
//
// Writes the headers of each packet, Ethernet to ImmDt or what an ACK has there, and computes the
// lengths that follow from them: PadCnt, UDP and IP length, frame length and
// the place of the ICRC. One packet per cycle, one register stage.

`default_nettype none

module header_builder
  import roce_pkg::*;
  import roce_tx_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [47:0] port_mac_i,
  input  wire logic [31:0] port_ipv4_i,
  input  wire logic        packet_valid_i,
  output logic             packet_ready_o,
  input  wire packet_t     packet_i,
  output logic             frame_valid_o,
  input  wire logic        frame_ready_i,
  output frame_t           frame_o
);

  // The parts of an IPv4 packet that count into its total length.
  localparam int unsigned EthernetBytes = $bits(ethernet_t) / 8;
  localparam int unsigned Ipv4Bytes     = $bits(ipv4_t) / 8;

  assign packet_ready_o = !frame_valid_o || frame_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      frame_valid_o <= 1'b0;
    end else if (packet_ready_o) begin
      frame_valid_o <= packet_valid_i;
      if (packet_valid_i) frame_o <= build(packet_i);
    end
  end

  function automatic frame_t build(packet_t packet);
    ethernet_t   ethernet;
    ipv4_t       ipv4;
    udp_t        udp;
    bth_t        bth;
    frame_t      frame;
    logic [13:0] icrc_offset;
    logic [13:0] packet_end;

    bth           = '0;
    bth.opcode    = packet.opcode;
    bth.solicited = packet.solicited;
    bth.mig_req   = 1'b1;
    bth.pad_count = -packet.payload_bytes[1:0];
    bth.pkey      = 16'hffff;
    bth.dest_qpn  = packet.path.remote_qpn;
    bth.ack_req   = packet.ack_req;
    bth.psn       = packet.psn;

    icrc_offset = 14'(header_bytes(packet.extensions)) + packet.payload_bytes[13:0]
        + 14'(bth.pad_count);
    packet_end  = icrc_offset + 14'(IcrcBytes);

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
    ipv4.dst           = packet.path.remote_ipv4;
    ipv4.checksum      = ipv4_checksum(ipv4);

    udp          = '0;
    udp.src_port = packet.path.udp_sport;
    udp.dst_port = RoceUdpPort;
    udp.length   = ipv4.total_length - 16'(Ipv4Bytes);

    ethernet.dst_mac    = packet.path.remote_mac;
    ethernet.src_mac    = port_mac_i;
    ethernet.ether_type = EtherTypeIpv4;

    frame.discard       = packet.discard;
    frame.payload_bytes = packet.payload_bytes;
    frame.extensions    = packet.extensions;
    frame.icrc_offset   = icrc_offset;
    frame.frame_bytes   = packet_end < 14'(MinFrameBytes) ? 14'(MinFrameBytes) : packet_end;
    unique case ({packet.extensions.reth, packet.extensions.immdt})
      2'b00: frame.header = {ethernet, ipv4, udp, bth, 160'd0};
      2'b01: frame.header = {ethernet, ipv4, udp, bth, packet.immediate, packet.original, 64'd0};
      2'b10: frame.header = {ethernet, ipv4, udp, bth, packet.reth, 32'd0};
      2'b11: frame.header = {ethernet, ipv4, udp, bth, packet.reth, packet.immediate};
    endcase
    return frame;
  endfunction

  // One's complement of the one's complement sum of the header's words; the
  // checksum field itself is zero here.
  function automatic logic [15:0] ipv4_checksum(ipv4_t header);
    logic [19:0] sum;
    logic [16:0] folded;
    sum = '0;
    for (int unsigned word = 0; word < Ipv4Bytes / 2; word++) begin
      sum += 20'(header[16*word+:16]);
    end
    folded = 17'(sum[15:0]) + 17'(sum[19:16]);
    return ~(folded[15:0] + 16'(folded[16]));
  endfunction

endmodule

`default_nettype wire
