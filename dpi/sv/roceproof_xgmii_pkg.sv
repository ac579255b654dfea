// SPDX-License-Identifier: BSD-2-Clause
//
// XGMII as IEEE 802.3, clause 46, has it: what lanes carry beside data, how
// much lies between frames, and the frame check sequence.

`default_nettype none

package roceproof_xgmii_pkg;

  localparam int Lanes = 8;

  // A lane of one clock: whether it is a control character, and its eight bits.
  typedef logic [8:0] lane_t;

  localparam lane_t Idle      = 9'h107;
  localparam lane_t Start     = 9'h1FB;
  localparam lane_t Terminate = 9'h1FD;
  localparam lane_t Error     = 9'h1FE;
  localparam lane_t Preamble  = 9'h055;
  localparam lane_t Delimiter = 9'h0D5;  // of the frame's start

  localparam int PreambleBytes = 6;   // between Start and Delimiter
  localparam int FcsBytes      = 4;
  localparam int ShortestFrame = 64;  // with FCS
  localparam int LongestFrame  = 9220;
  localparam int Gap           = 12;  // between frames, Terminate among it, on average
  localparam int MostDeficit   = 3;   // what gaps may be behind that average

  localparam logic [31:0] CrcStart   = '1;
  localparam logic [31:0] Polynomial = 32'hEDB88320;
  localparam logic [31:0] Residue    = 32'hDEBB20E3;  // of a frame with its FCS

  // The CRC of one byte more; its complement is the FCS, lowest byte first.
  function automatic logic [31:0] crc_of(input logic [31:0] so_far, input logic [7:0] data);
    automatic logic [31:0] crc = so_far ^ {24'd0, data};
    for (int i = 0; i < 8; i++) crc = crc[0] ? (crc >> 1) ^ Polynomial : crc >> 1;
    return crc;
  endfunction

  // What is wrong in an FCS of whose residue these bits are wrong.
  function automatic logic [31:0] wrong_for(input logic [31:0] residue);
    automatic logic [31:0] crc = residue;
    repeat (8 * FcsBytes) crc = crc[31] ? ((crc ^ Polynomial) << 1) | 32'd1 : crc << 1;
    return crc;
  endfunction

  // What gaps are behind their average after one more.
  function automatic int deficit_after(input int deficit, input int gap);
    automatic int behind = deficit + Gap - gap;
    return behind < 0 ? 0 : behind;
  endfunction

endpackage

`default_nettype wire
