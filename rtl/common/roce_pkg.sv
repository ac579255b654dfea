// SPDX-License-Identifier: BSD-2-Clause
//
// Types shared inside the reference endpoint: protocol constants, the wire
// headers, and the records that pass between its transmit and receive halves.

`ifndef ROCE_PKG_SV
`define ROCE_PKG_SV

package roce_pkg;

  parameter logic [15:0] EtherTypeIpv4 = 16'h0800;
  parameter logic [15:0] EtherTypeArp  = 16'h0806;
  parameter logic [15:0] RoceUdpPort   = 16'd4791;
  parameter logic [7:0]  IpProtoIcmp   = 8'd1;
  parameter logic [7:0]  IpProtoUdp    = 8'd17;
  parameter logic [7:0]  RcAcknowledge = 8'h11;

  // The wire headers as the standards draw them, first field first on the wire.
  typedef struct packed {
    logic [47:0] dst_mac;
    logic [47:0] src_mac;
    logic [15:0] ether_type;
  } ethernet_t;

  typedef struct packed {
    logic [3:0]  version;
    logic [3:0]  ihl;
    logic [7:0]  tos;
    logic [15:0] total_length;
    logic [15:0] id;
    logic        reserved_flag;
    logic        dont_fragment;
    logic        more_fragments;
    logic [12:0] fragment_offset;
    logic [7:0]  ttl;
    logic [7:0]  protocol;
    logic [15:0] checksum;
    logic [31:0] src;
    logic [31:0] dst;
  } ipv4_t;

  typedef struct packed {
    logic [15:0] src_port;
    logic [15:0] dst_port;
    logic [15:0] length;
    logic [15:0] checksum;
  } udp_t;

  typedef struct packed {
    logic [7:0]  opcode;
    logic        solicited;
    logic        mig_req;
    logic [1:0]  pad_count;
    logic [3:0]  tver;
    logic [15:0] pkey;
    logic [7:0]  fecn_becn;
    logic [23:0] dest_qpn;
    logic        ack_req;
    logic [6:0]  reserved;
    logic [23:0] psn;
  } bth_t;

  typedef struct packed {
    logic [63:0] virtual_address;
    logic [31:0] rkey;
    logic [31:0] dma_length;
  } reth_t;

  // One RC ACKNOWLEDGE packet addressed to this port whose ICRC was right.
  typedef struct packed {
    logic [23:0] dest_qpn;
    logic [23:0] psn;
    logic [7:0]  syndrome;  // AETH bits 31:24
    logic [23:0] msn;       // AETH bits 23:0
    logic [31:0] src_ipv4;
  } response_t;

endpackage

`endif
