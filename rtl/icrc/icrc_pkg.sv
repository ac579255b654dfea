// SPDX-License-Identifier: BSD-2-Clause
//
// What the ICRC modules agree on: where things are in a frame, and the two
// constants of the invariant CRC.

`ifndef ICRC_PKG_SV
`define ICRC_PKG_SV

package icrc_pkg;

  // A byte position in a frame; the destination MAC starts at 0.
  typedef logic [15:0] position_t;

  // Where the covered headers lie: zero or one VLAN tag, IPv4 or IPv6.
  typedef struct packed {
    logic vlan;
    logic ipv6;
  } layout_t;

  // Register after the eight 0xFF bytes that stand in for the absent LRH.
  parameter logic [31:0] IcrcSeed = 32'hDEBB20E3;

  // Register after a packet with its own, right ICRC.
  parameter logic [31:0] IcrcResidue = 32'hDEBB20E3;

endpackage

`endif
