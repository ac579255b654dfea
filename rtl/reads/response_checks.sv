// SPDX-License-Identifier: BSD-2-Clause
//
// What becomes of one response: what stands before the oldest READ or atomic of its
// queue pair is for the ACK tracker to judge, which also knows what was sent. A
// response that fits the place which is next goes to memory. One that does not fit
// it is a fault, and so is what acknowledges or refuses anything behind data that have
// not come: they are lost, and are not asked for again. Anything else, as data of
// a place behind the next, says nothing: a timeout settles the matter.

`default_nettype none

module response_checks
  import reads_pkg::*;
  import request_pkg::*;
  import roce_pkg::*;
  import roce_tx_pkg::precedes;
  import roceproof_dut_pkg::*;
(
  input  wire request_t             response_i,   // its AETH where a request has its first extension
  input  wire asker_t               asker_i,
  input  wire logic                 waits_i,      // for what was asked for:
  input  wire roce_tx_pkg::asked_t  asked_i,
  input  wire logic [23:0]          received_i,   // responses of it
  input  wire logic                 again_i,      // since which the rest was asked for
  output      logic [31:0]          offset_o,     // of the data in the answer, in bytes
  input  wire logic                 permitted_i,  // they may go where they shall
  output      verdict_t             verdict_o
);

  logic [7:0]  opcode, syndrome;
  logic [23:0] next;
  logic [31:0] left;
  logic [15:0] bytes;             // that the response must have
  logic        is_ack, is_nak, is_next, is_last, behind, has_aeth, fits, is_data, has_data;
  logic [7:0]  due, due_again;    // the opcode that it must have, and may, of a READ that was repeated
  status_e     unused_status;

  assign opcode   = response_i.opcode;
  assign next     = asked_i.first_psn + received_i;
  assign is_next  = response_i.psn == next;
  assign is_last  = response_i.psn == asked_i.last_psn;
  assign behind   = waits_i && !precedes(response_i.psn, next);
  assign has_aeth = opcode != RcReadMiddle;
  assign syndrome = has_aeth ? response_i.immediate[31:24] : 8'h1F;
  assign is_data  = opcode inside {RcReadFirst, RcReadMiddle, RcReadLast, RcReadOnly};

  aeth_decoder u_decoder (
    .syndrome_i(syndrome),
    .ack_o     (is_ack),
    .nak_o     (is_nak),
    .status_o  (unused_status)
  );

  assign offset_o = asked_i.atomic ? '0 : (32'd128 << asker_i.path_mtu) * 32'(received_i);
  assign left     = asked_i.length - offset_o;

  // An ATOMIC ACKNOWLEDGE has no payload: what was found is in its header.
  always_comb begin
    bytes = left > 32'(mtu_bytes(asker_i.path_mtu)) ? 16'(mtu_bytes(asker_i.path_mtu)) : left[15:0];
    unique case ({received_i == '0, is_last})
      2'b10: due = RcReadFirst;
      2'b00: due = RcReadMiddle;
      2'b01: due = RcReadLast;
      2'b11: due = RcReadOnly;
    endcase
    if (asked_i.atomic) begin
      bytes = '0;
      due   = RcAtomicAck;
    end
  end

  assign due_again = is_last ? RcReadOnly : RcReadFirst;
  assign has_data = asked_i.atomic || bytes != '0;
  assign fits     = (opcode == due || (again_i && opcode == due_again))
      && response_i.payload_bytes == bytes && is_ack;

  // Whether the response is taken, and what it shows.
  logic    takes;
  status_e fault;

  always_comb begin
    takes           = 1'b0;
    verdict_o       = '0;
    fault           = StatusSuccess;
    if (opcode == RcAcknowledge) begin
      verdict_o.passes = 1'b1;
      if (behind && (is_ack || (is_nak && !is_next))) fault = StatusRetryExcErr;
    end else if (waits_i && is_next && (asked_i.atomic ? opcode == RcAtomicAck : is_data)) begin
      verdict_o.passes = 1'b1;
      if (!fits) fault = StatusBadRespErr;
      else if (has_data && !permitted_i) fault = StatusLocProtErr;
      else takes = 1'b1;
    end else if (behind && is_data && !asked_i.atomic && !precedes(asked_i.last_psn, response_i.psn)) begin
      verdict_o.passes = 1'b1;
      fault            = StatusRetryExcErr;
    end

    verdict_o.writes   = takes && has_data;
    verdict_o.advances = takes;
    verdict_o.ends     = takes && is_last;
    verdict_o.fault    = '{status: fault, psn: next, mute: !has_aeth, default: '0};
    if (verdict_o.ends) verdict_o.fault.ended = received_i;
    else if (waits_i) verdict_o.fault.answered = received_i + 24'(takes);
    verdict_o.response = '{
      dest_qpn: response_i.dest_qpn,
      psn:      response_i.psn,
      syndrome: syndrome,
      msn:      response_i.immediate[23:0],
      src_gid:  response_i.src_gid
    };
  end

endmodule

`default_nettype wire
