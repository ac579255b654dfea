// SPDX-License-Identifier: BSD-2-Clause
//
// What a requester that reads is made of: frames as queues of bytes, and what
// it knows of a message under way.

`default_nettype none

package reading_pkg;

  import roceproof_dut_pkg::*;

  localparam int Ethernet = 14;
  localparam int Ip       = 20;
  localparam int Bth      = Ethernet + Ip + 8;
  localparam int Behind   = Bth + 12;
  localparam int Icrc     = 4;

  localparam logic [7:0] WriteFirst = 8'h06, WriteMiddle = 8'h07, WriteLast = 8'h08;
  localparam logic [7:0] WriteOnly = 8'h0A;
  localparam logic [7:0] ReadRequest = 8'h0C, ReadFirst = 8'h0D, ReadMiddle = 8'h0E;
  localparam logic [7:0] ReadLast = 8'h0F, ReadOnly = 8'h10;
  localparam logic [7:0] Acknowledge = 8'h11, AtomicAcknowledge = 8'h12;
  localparam logic [7:0] CompareSwap = 8'h13, FetchAdd = 8'h14;

  typedef logic [7:0] bytes_t[$];

  // A message whose request has left. `packets` are its PSNs from `first` on.
  typedef struct packed {
    work_request_t work;
    operands_t     operands;
    logic [23:0]   first;
    logic [31:0]   packets;
    logic [31:0]   came;      // responses
    logic [31:0]   writes;    // that memory has to have done before it completes
    logic          has_ended;
    status_e       status;
    logic [7:0]    syndrome;
  } message_t;

  function automatic logic is_answered(input operation_e operation);
    return operation inside {OpRead, OpCmpSwap, OpFetchAdd};
  endfunction

  // So many bytes of a queue, from one on.
  function automatic bytes_t part_of(input bytes_t bytes, input int start, input int size);
    part_of = {};
    for (int i = 0; i < size; i++) part_of.push_back(bytes[start+i]);
  endfunction

  // A number of so many bytes as they go on the wire.
  function automatic bytes_t big_endian(input logic [255:0] value, input int size);
    big_endian = {};
    for (int i = size - 1; i >= 0; i--) big_endian.push_back(value[8*i+:8]);
  endfunction

  function automatic logic [63:0] number_at(input bytes_t bytes, input int at, input int size);
    number_at = '0;
    for (int i = 0; i < size; i++) number_at = {number_at[55:0], bytes[at+i]};
  endfunction

  function automatic operands_t number_of(input bytes_t bytes);
    number_of = '0;
    for (int i = 0; i < 32; i++) number_of = {number_of[247:0], bytes[i]};
  endfunction

  function automatic status_e status_of(input logic [7:0] syndrome);
    case (syndrome)
      8'h60:   return StatusRetryExcErr;
      8'h61:   return StatusRemInvReqErr;
      8'h62:   return StatusRemAccessErr;
      8'h63:   return StatusRemOpErr;
      default: return StatusRnrRetryExc;
    endcase
  endfunction

  // Of a frame without its ICRC, byte 0 first on the wire.
  function automatic logic [31:0] icrc_of(input bytes_t frame);
    automatic logic [31:0] crc = '1;
    for (int i = Ethernet - 8; i < frame.size(); i++) begin
      automatic logic masked = i < Ethernet || i inside {Ethernet + 1, Ethernet + 8, Ethernet + 10,
          Ethernet + 11, Bth - 2, Bth - 1, Bth + 4};
      crc ^= {24'd0, masked ? 8'hFF : frame[i]};
      for (int bit_ = 0; bit_ < 8; bit_++) crc = crc[0] ? (crc >> 1) ^ 32'hEDB88320 : crc >> 1;
    end
    crc = ~crc;
    return {crc[7:0], crc[15:8], crc[23:16], crc[31:24]};
  endfunction

endpackage

`default_nettype wire
