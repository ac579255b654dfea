// SPDX-License-Identifier: BSD-2-Clause
//
// Decides on one datagram for its queue pair; nothing but logic. It is delivered
// behind the network header where key, receive, lengths and memory allow it, and
// otherwise dropped; nobody is ever told why.

`default_nettype none

module datagram_checks
  import request_pkg::*;
  import responder_pkg::*;
(
  input  wire request_t      request_i,
  input  wire receiver_t     receiver_i,
  input  wire progress_t     progress_i,
  input  wire logic          head_valid_i,  // there is a receive
  input  wire receive_slot_t head_i,
  input  wire logic          permitted_i,   // all of it is memory that may be written
  output      decision_t     decision_o
);

  operation_t  operation;
  logic [31:0] size, delivered;
  logic        is_admitted, is_held, delivers;

  assign operation = operation_of(request_i.opcode);
  assign size      = 32'(request_i.payload_bytes);
  assign delivered = size + NetworkHeaderBytes;

  assign is_admitted = operation.kind == KindSend && request_i.deth.qkey == receiver_i.qkey
      && size <= 32'(mtu_bytes(receiver_i.path_mtu));
  assign is_held     = head_valid_i && permitted_i && delivered <= head_i.length;
  assign delivers    = !progress_i.failed && is_admitted && is_held;

  always_comb begin
    decision_o           = '0;
    decision_o.heads     = delivers;
    decision_o.writes    = delivers && size != '0;
    decision_o.completes = delivers;
    decision_o.byte_len  = delivered;
  end

endmodule

`default_nettype wire
