// SPDX-License-Identifier: BSD-2-Clause
//
// The first 64 bytes of a received frame as records. A record's first field
// is the first on the wire; behind the IPv4 header, or behind the Ethernet
// header for ARP, the same bytes are read as one protocol or another.

`ifndef RX_HEADER_PKG_SV
`define RX_HEADER_PKG_SV

package rx_header_pkg;

  import roce_pkg::*;

  // Bytes of a frame that decide what it is. The shortest RoCEv2 packet ends
  // at byte 58, so its end is never before the beat that completes the window.
  parameter int unsigned WindowBytes = 64;

  // As on the stream: byte 0 in bits 7:0.
  typedef logic [8*WindowBytes-1:0] window_t;

  // UDP, BTH and AETH of an ACKNOWLEDGE, and the rest of the window.
  typedef struct packed {
    udp_t        udp;
    bth_t        bth;
    logic [7:0]  syndrome;
    logic [23:0] msn;
    logic [31:0] icrc;
    logic [15:0] rest;
  } roce_ack_t;

  typedef struct packed {
    logic [7:0]   icmp_type;
    logic [7:0]   code;
    logic [15:0]  checksum;
    logic [207:0] rest;
  } icmp_t;

  // Of a neighbour, and the rest of the window.
  typedef struct packed {
    logic [7:0]   icmp_type;
    logic [7:0]   code;
    logic [15:0]  checksum;
    logic [31:0]  reserved;
    logic [127:0] target;
    logic [47:0]  rest;
  } solicitation_t;

  // An address of all whose own ends with the same 24 bits, without these.
  parameter logic [103:0] SolicitedNode = 104'hFF02_0000_0000_0000_0000_0001_FF;

  typedef struct packed {
    logic [15:0]  hardware_type;
    logic [15:0]  protocol_type;
    logic [7:0]   hardware_length;
    logic [7:0]   protocol_length;
    logic [15:0]  operation;
    logic [47:0]  sender_mac;
    logic [31:0]  sender_ipv4;
    logic [47:0]  target_mac;
    logic [31:0]  target_ipv4;
    logic [175:0] rest;
  } arp_t;

  typedef struct packed {
    ethernet_t    ethernet;
    logic [399:0] payload;
  } frame_header_t;

  typedef struct packed {
    ipv4_t        ip;  // without options: IHL is 5 or the packet is not for us
    logic [239:0] payload;
  } ipv4_packet_t;

  // What rx_parser makes of a frame; at most one is set.
  typedef struct packed {
    logic ack;           // RC ACKNOWLEDGE for this port, ICRC not yet looked at
    logic arp_request;   // for this port's address
    logic echo_request;  // ICMP or ICMPv6, for this port's address
    logic solicitation;  // of this port's address, over IPv6
    logic request;       // RC or UC, for this port, no ACKNOWLEDGE; ICRC not yet looked at
    logic notice;        // a CNP for this port, ICRC not yet looked at
  } frame_kind_t;

  // Whether a switch has marked a packet that went through congestion.
  function automatic logic is_marked(frame_header_t header, ipv6_t ipv6);
    ipv4_packet_t packet;
    packet = ipv4_packet_t'(header.payload);
    return (ipv6.version != '0 ? ipv6.traffic_class[1:0] : packet.ip.tos[1:0]) == 2'b11;
  endfunction

  // Wire order (byte 0 most significant) from stream order, and back.
  function automatic window_t swap_bytes(window_t window);
    window_t swapped;
    for (int unsigned i = 0; i < WindowBytes; i++) begin
      swapped[8*i+:8] = window[8*(WindowBytes-1-i)+:8];
    end
    return swapped;
  endfunction

endpackage

`endif
