// SPDX-License-Identifier: BSD-2-Clause
//
// Decides on one request for its queue pair; nothing but logic. On RC, in this
// order: expected, repeated or ahead? Then, of an expected request, the place
// of its opcode, the right to it, a receive, the lengths, the memory; the
// first that is wrong gives the NAK. On UC what is wrong ends the message in
// silence, and a message may begin at any PSN.

`default_nettype none

module request_checks
  import request_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::*;
#(
  parameter serves_t Serves = '0
) (
  input  wire request_t      request_i,
  input  wire receiver_t     receiver_i,
  input  wire progress_t     progress_i,
  input  wire logic          head_valid_i,  // there is a receive
  input  wire receive_slot_t head_i,
  input  wire logic          permitted_i,   // the region table's answer about `message`
  input  wire logic          read_free_i,   // one more READ or atomic may be under way
  input  wire logic          read_known_i,  // a repeated one asks for what was given before
  output      decision_t     decision_o
);

  typedef enum logic [2:0] {
    RefusalNone,
    RefusalInvalid,
    RefusalNoReceive,
    RefusalTooLong,      // for the receive
    RefusalAccess,
    RefusalLocal         // the receive's own memory
  } refusal_e;

  operation_t  operation;
  message_t    message;
  logic [23:0] ahead;
  logic [12:0] mtu;
  logic [31:0] size;
  logic        in_sequence, is_supported, is_allowed, is_reread, is_replay, follows, needs_receive;
  logic        size_fits_mtu, length_agrees, memory_refuses;
  refusal_e    refusal;

  assign operation      = operation_of(request_i.opcode);
  assign message        = message_of(request_i, progress_i, head_i);
  assign ahead          = request_i.psn - progress_i.expected_psn;
  assign mtu            = mtu_bytes(receiver_i.path_mtu);
  assign size           = 32'(request_i.payload_bytes);
  assign in_sequence    = ahead == '0;
  always_comb begin
    unique case (operation.kind)
      KindSend:   is_supported = Serves.invalidate || !operation.ieth;
      KindWrite:  is_supported = 1'b1;
      KindRead:   is_supported = Serves.reads;
      KindAtomic: is_supported = Serves.atomics;
      default:    is_supported = 1'b0;
    endcase
  end

  assign is_reread      = operation.kind == KindRead && !in_sequence;
  assign is_replay      = operation.kind == KindAtomic && !in_sequence;
  assign memory_refuses = message.left != '0 && !permitted_i;
  assign needs_receive  = operation.kind == KindSend ? operation.first
                                                     : operation.last && operation.immdt;

  // A UC message that begins puts an end to the one that is open.
  always_comb begin
    if (operation.first) follows = !receiver_i.reliable || !progress_i.message.open;
    else follows = progress_i.message.open && in_sequence
        && progress_i.message.send == (operation.kind == KindSend);
  end

  always_comb begin
    if (operation.kind inside {KindRead, KindAtomic}) size_fits_mtu = size == '0;
    else if (!operation.last) size_fits_mtu = size == 32'(mtu);
    else size_fits_mtu = size <= 32'(mtu) && (operation.first || size != '0);

    length_agrees = size <= message.left;
    if (operation.kind == KindWrite && operation.last && size != message.left) begin
      length_agrees = 1'b0;
    end
    if (operation.reth && request_i.reth.dma_length > LongestMessage) length_agrees = 1'b0;
    if (operation.kind == KindAtomic && message.address[2:0] != '0) length_agrees = 1'b0;
  end

  always_comb begin
    unique case (operation.kind)
      KindWrite:  is_allowed = receiver_i.access.remote_write;
      KindRead:   is_allowed = receiver_i.access.remote_read && read_free_i;
      KindAtomic: is_allowed = receiver_i.access.remote_atomic && read_free_i;
      default:    is_allowed = 1'b1;
    endcase
  end

  always_comb begin
    refusal = RefusalNone;
    if (!is_supported || !follows || !is_allowed) refusal = RefusalInvalid;
    else if (needs_receive && !head_valid_i) refusal = RefusalNoReceive;
    else if (!size_fits_mtu) refusal = RefusalInvalid;
    else if (!length_agrees) begin
      refusal = operation.kind == KindSend ? RefusalTooLong : RefusalInvalid;
    end else if (operation.kind == KindSend && !permitted_i) refusal = RefusalLocal;
    else if (operation.kind != KindSend && memory_refuses) refusal = RefusalAccess;
  end

  // What is left of the message behind this packet.
  message_t message_after;
  always_comb begin
    message_after         = message;
    message_after.open    = !operation.last;
    message_after.address = message.address + 64'(size);
    message_after.left    = message.left - size;
    message_after.done    = message.done + size;
  end

  logic executes;
  assign executes = is_supported && refusal == RefusalNone && (in_sequence || !receiver_i.reliable);

  always_comb begin
    decision_o            = '0;
    decision_o.progress   = progress_i;
    decision_o.answer_psn = request_i.psn;
    decision_o.syndrome   = SyndromeAck;
    decision_o.status     = StatusSuccess;
    decision_o.byte_len   = message_after.done;

    if (progress_i.failed) begin
      // Silence.
    end else if (!receiver_i.reliable) begin
      if (is_supported) begin
        decision_o.changes               = 1'b1;
        decision_o.progress.expected_psn = request_i.psn + 24'd1;
        decision_o.progress.message.open = 1'b0;
      end
    end else if (!in_sequence && ahead[23]) begin
      decision_o.answers = is_supported
          && (is_reread || is_replay ? read_known_i : progress_i.executed);
      decision_o.reads   = decision_o.answers && is_reread && !memory_refuses;
      decision_o.replays = decision_o.answers && is_replay;
      if (is_reread && decision_o.answers && memory_refuses) begin
        decision_o.changes         = 1'b1;
        decision_o.fails           = 1'b1;
        decision_o.progress.failed = 1'b1;
        decision_o.syndrome        = SyndromeAccess;
        decision_o.status          = StatusWrFlushErr;
      end
    end else if (!in_sequence) begin
      decision_o.changes              = 1'b1;
      decision_o.progress.nak_pending = 1'b1;
      decision_o.answers              = !progress_i.nak_pending;
      decision_o.syndrome             = SyndromeSequence;
      decision_o.answer_psn           = progress_i.expected_psn;
    end else begin
      decision_o.changes              = 1'b1;
      decision_o.progress.nak_pending = refusal == RefusalNoReceive;
      decision_o.reads                = operation.kind == KindRead && refusal == RefusalNone;
      decision_o.operates             = operation.kind == KindAtomic && refusal == RefusalNone;
      decision_o.keeps                = decision_o.reads || decision_o.operates;
      decision_o.answers = request_i.ack_req || refusal != RefusalNone || decision_o.keeps;
      decision_o.fails                = !(refusal inside {RefusalNone, RefusalNoReceive});
      decision_o.progress.failed      = decision_o.fails;
      decision_o.uses_receive         = progress_i.message.open && progress_i.message.send
          || refusal inside {RefusalTooLong, RefusalLocal};
      unique case (refusal)
        RefusalNoReceive: decision_o.syndrome = SyndromeRnr | 8'(receiver_i.rnr_timer);
        RefusalInvalid: begin
          decision_o.syndrome = SyndromeInvalid;
          decision_o.status   = StatusRemInvReqErr;
        end
        RefusalTooLong: begin
          decision_o.syndrome = SyndromeInvalid;
          decision_o.status   = StatusLocLenErr;
        end
        RefusalAccess: begin
          decision_o.syndrome = SyndromeAccess;
          decision_o.status   = StatusRemAccessErr;
        end
        RefusalLocal: begin
          decision_o.syndrome = SyndromeOperational;
          decision_o.status   = StatusLocProtErr;
        end
        default: ;
      endcase
    end

    if (executes && !progress_i.failed) begin
      decision_o.progress.expected_psn = request_i.psn + (operation.kind != KindRead ? 24'd1
          : 24'(packets_of(request_i.reth.dma_length, receiver_i.path_mtu)));
      decision_o.progress.executed     = 1'b1;
      decision_o.progress.message      = message_after;
      decision_o.writes                = size != '0;
      decision_o.invalidates           = operation.ieth;
      decision_o.completes = operation.last && (operation.kind == KindSend || operation.immdt);
      if (operation.last) decision_o.progress.msn = progress_i.msn + 24'd1;
    end
  end

endmodule

`default_nettype wire
