// SPDX-License-Identifier: BSD-2-Clause
//
// What both halves of the MAC know of XGMII (IEEE 802.3, clause 46): a column
// is the eight lanes of one clock, lane 0 the first on the wire.

`ifndef XGMII_PKG_SV
`define XGMII_PKG_SV

package xgmii_pkg;

  // A lane: whether it is a control character, and its eight bits.
  typedef logic [8:0]  lane_t;
  typedef lane_t [7:0] column_t;

  parameter lane_t Idle      = 9'h107;
  parameter lane_t Start     = 9'h1FB;
  parameter lane_t Terminate = 9'h1FD;
  parameter lane_t Error     = 9'h1FE;
  parameter lane_t Preamble  = 9'h055;
  parameter lane_t Delimiter = 9'h0D5;  // of the frame's start

  parameter column_t IdleColumn  = {8{Idle}};
  parameter column_t StartColumn = {Delimiter, {6{Preamble}}, Start};

  // MAC control: what pauses are addressed to, and say.
  parameter logic [47:0] ToTheLink      = 48'h0180C2000001;
  parameter logic [15:0] EtherType      = 16'h8808;
  parameter logic [15:0] GlobalPause    = 16'h0001;
  parameter logic [15:0] PriorityPause  = 16'h0101;
  parameter int unsigned QuantumCycles  = 8;  // 512 bit times

endpackage

`endif
