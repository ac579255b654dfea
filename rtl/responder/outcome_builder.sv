// SPDX-License-Identifier: BSD-2-Clause
//
// The outcome of what the engine does, in the words of peer and host; nothing
// but logic. Of a request: the answer that was decided on, and the completion of
// the receive at the head. Else a receive ends without a message: the first of a
// queue pair that fails with the status of that, all others flushed.

`default_nettype none

module outcome_builder
  import request_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::*;
(
  input  wire logic          acts_i,           // on a request
  input  wire logic          posts_i,          // a receive that is refused; else one is flushed
  input  wire logic          first_flushed_i,  // another has been flushed before
  input  wire request_t      request_i,
  input  wire decision_t     decision_i,
  input  wire receiver_t     receiver_i,
  input  wire receive_slot_t head_i,
  input  wire logic [63:0]   posted_wr_id_i,
  input  wire logic [10:0]   index_i,          // of the queue pair
  input  wire logic [63:0]   address_i,        // in memory, of what the request names
  input  wire logic [63:0]   original_i,       // what an atomic has found there
  input  wire kept_t         kept_i,           // and what it found the first time
  input  wire write_count_t  asked_i,
  output      outcome_t      outcome_o
);

  operation_t          operation;
  receive_completion_t completion;
  answer_t             answer;

  assign operation = operation_of(request_i.opcode);

  always_comb begin
    completion         = '0;
    completion.wr_id   = head_i.wr_id;
    completion.qpn     = 32'(receiver_i.local_qpn);
    completion.status  = StatusWrFlushErr;
    completion.src_qpn = 32'(receiver_i.path.remote_qpn);
    if (acts_i) begin
      completion.status          = StatusSuccess;
      completion.byte_len        = decision_i.byte_len;
      completion.flags.solicited = request_i.solicited;
      if (receiver_i.datagram) completion.src_qpn = 32'(request_i.deth.src_qpn);
      completion.flags.immediate = operation.immdt;
      completion.flags.invalidate = operation.ieth;
      if (operation.immdt || operation.ieth) completion.immediate = request_i.immediate;
    end else if (posts_i) begin
      completion.wr_id = posted_wr_id_i;
    end else if (!first_flushed_i) begin
      completion.status = decision_i.status;
    end
  end

  assign answer = '{
    path:     receiver_i.path,
    psn:      decision_i.answer_psn,
    syndrome: decision_i.syndrome,
    msn:      decision_i.replays ? kept_i.msn : decision_i.progress.msn,
    reads:    decision_i.reads,
    atomic:   decision_i.operates || decision_i.replays,
    original: decision_i.replays ? kept_i.original : original_i,
    path_mtu: receiver_i.path_mtu,
    address:  address_i,
    length:   request_i.reth.dma_length,
    note:     '{ends: 1'b0, holds: decision_i.keeps, index: index_i}
  };

  assign outcome_o = '{
    answers:    acts_i && decision_i.answers,
    answer:     answer,
    completes:  !acts_i || decision_i.completes,
    completion: completion,
    asked:      asked_i
  };

endmodule

`default_nettype wire
