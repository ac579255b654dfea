// SPDX-License-Identifier: BSD-2-Clause
//
// Types shared inside the reference endpoint: protocol constants, the wire
// headers, and the records that pass between its transmit and receive halves.

`ifndef ROCE_PKG_SV
`define ROCE_PKG_SV

package roce_pkg;

  parameter logic [15:0] EtherTypeIpv4 = 16'h0800;
  parameter logic [15:0] EtherTypeIpv6 = 16'h86DD;
  parameter logic [15:0] EtherTypeArp  = 16'h0806;
  parameter logic [15:0] EtherTypeVlan = 16'h8100;
  parameter logic [15:0] RoceUdpPort   = 16'd4791;
  parameter logic [7:0]  IpProtoIcmp   = 8'd1;
  parameter logic [7:0]  IpProtoUdp    = 8'd17;
  parameter logic [7:0]  IpProtoIcmpv6 = 8'd58;
  parameter logic [7:0]  RcReadRequest = 8'h0C;
  parameter logic [7:0]  RcReadFirst   = 8'h0D;
  parameter logic [7:0]  RcReadMiddle  = 8'h0E;
  parameter logic [7:0]  RcReadLast    = 8'h0F;
  parameter logic [7:0]  RcReadOnly    = 8'h10;
  parameter logic [7:0]  RcAcknowledge = 8'h11;
  parameter logic [7:0]  RcAtomicAck   = 8'h12;
  parameter logic [7:0]  RcCompareSwap = 8'h13;
  parameter logic [7:0]  RcFetchAdd    = 8'h14;
  parameter logic [7:0]  UdSendOnly    = 8'h64;
  parameter logic [7:0]  UdSendOnlyImm = 8'h65;
  parameter logic [7:0]  Cnp           = 8'h81;

  parameter logic [7:0]  BecnOnly      = 8'h40;

  parameter logic [95:0] Ipv4Prefix = 96'hFFFF;  // of an IPv4 address that is written as a GID

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
    logic [3:0]   version;
    logic [7:0]   traffic_class;
    logic [19:0]  flow_label;
    logic [15:0]  payload_length;
    logic [7:0]   next_header;
    logic [7:0]   hop_limit;
    logic [127:0] src;
    logic [127:0] dst;
  } ipv6_t;

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

  typedef struct packed {
    logic [31:0] qkey;
    logic [7:0]  reserved;
    logic [23:0] src_qpn;
  } deth_t;

  // The tag of a frame, as its control information (802.1Q) with `present` where DEI is.
  typedef struct packed {
    logic [2:0]  pcp;
    logic        present;
    logic [11:0] vid;
  } vlan_tag_t;

  // One RC ACKNOWLEDGE packet addressed to this port whose ICRC was right; of READs and atomics
  // that are sent, a response, too, which then says no more than that it has come.
  typedef struct packed {
    logic [23:0]  dest_qpn;
    logic [23:0]  psn;
    logic [7:0]   syndrome;  // AETH bits 31:24
    logic [23:0]  msn;       // AETH bits 23:0
    logic [127:0] src_gid;
  } response_t;

  // A notification of congestion (CNP) for this port whose ICRC was right.
  typedef struct packed {
    logic [23:0]  dest_qpn;
    logic [127:0] src_gid;
  } notice_t;

  // What an endpoint keeps of a GID: without IPv6, the IPv4 address.
  function automatic logic [127:0] kept_gid(logic [127:0] gid, int unsigned ipv6);
    return ipv6 != 0 ? gid : 128'(gid[31:0]);
  endfunction

  // A port's IPv6 address: its GID, or where that is an IPv4 address, the one that an
  // interface has by itself (RFC 4291, appendix A).
  function automatic logic [127:0] own_ipv6(logic [47:0] mac, logic [127:0] gid);
    if (gid[127:32] != Ipv4Prefix) return gid;
    return {64'hFE80_0000_0000_0000, mac[47:24] ^ 24'h02_0000, 16'hFFFE, mac[23:0]};
  endfunction

endpackage

`endif
