// SPDX-License-Identifier: BSD-2-Clause
//
// Types shared inside the reference endpoint: protocol constants and the
// records that pass between its transmit and receive halves.

`ifndef ROCE_PKG_SV
`define ROCE_PKG_SV

package roce_pkg;

  parameter logic [15:0] EtherTypeIpv4 = 16'h0800;
  parameter logic [15:0] EtherTypeArp  = 16'h0806;
  parameter logic [15:0] RoceUdpPort   = 16'd4791;
  parameter logic [7:0]  IpProtoIcmp   = 8'd1;
  parameter logic [7:0]  IpProtoUdp    = 8'd17;
  parameter logic [7:0]  RcAcknowledge = 8'h11;

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
