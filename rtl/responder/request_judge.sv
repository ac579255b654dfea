// SPDX-License-Identifier: BSD-2-Clause
//
// Finds out what becomes of one request: look_i asks whether it concerns its
// queue pair at all, and which memory is meant; where recalls_o is high then,
// recalled_o tells when the READs before have been looked through; decide_i
// makes the decision, which stays until the next. It knows the memory regions
// and the READs and atomics
// under way, and is told what comes of a decision.

`default_nettype none

module request_judge
  import request_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned Qps     = 16,
  parameter int unsigned Regions = 16,
  parameter serves_t     Serves  = '0,
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  output      logic                 ready_o,

  input  wire logic                 region_valid_i,
  input  wire memory_region_t       region_i,

  input  wire logic                 good_i,        // the ICRC is right
  input  wire request_t             request_i,
  input  wire logic [IndexBits-1:0] index_i,       // of its queue pair, of which this is known:
  input  wire receiver_t            receiver_i,
  input  wire progress_t            progress_i,
  input  wire logic                 head_valid_i,  // there is a receive
  input  wire receive_slot_t        head_i,

  input  wire logic                 look_i,
  output      logic                 recalls_o,
  output      logic                 recalled_o,
  input  wire logic                 decide_i,
  output      decision_t            decision_o,
  output      logic [63:0]          address_o,     // in memory, of what the request names
  output      kept_t                kept_o,        // what a repeated request was answered with

  input  wire logic                 acts_i,        // as decided
  input  wire logic [63:0]          original_i,    // what an atomic has found
  input  wire logic                 forget_i,      // behind it: the region that it names
  input  wire logic                 clear_i,       // the queue pair begins again
  input  wire logic                 left_i,        // an answer's frame, and this is its note
  input  wire read_note_t           note_i,
  output      logic                 no_reads_o     // are still being answered
);

  message_t      message;
  logic [2:0]    service;
  operation_t    operation;
  region_query_t query;
  decision_t     connected, datagram;
  logic          match, match_q, permitted, read_free, read_known;

  assign message   = message_of(request_i, progress_i, head_i);
  assign operation = operation_of(request_i.opcode);
  assign recalls_o = operation.kind inside {KindRead, KindAtomic}
      && progress_i.expected_psn != request_i.psn;
  assign query     = look_i ? query_of(message, receiver_i, operation.kind)
                            : key_query(request_i.immediate, receiver_i.pd);

  region_table #(
    .Regions(Regions)
  ) u_regions (
    .clk_i,
    .rst_ni,
    .ready_o,
    .write_i      (region_valid_i),
    .region_i,
    .query_valid_i(look_i || (acts_i && decision_o.invalidates)),
    .query_i      (query),
    .forget_i,
    .permitted_o  (permitted),
    .address_o
  );

  read_ledger #(
    .Qps(Qps)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .index_i,
    .receiver_i,
    .request_i,
    .msn_i     (decision_o.progress.msn),
    .original_i,
    .clear_i,
    .recall_i  (look_i && recalls_o),
    .recalled_o,
    .known_o   (read_known),
    .kept_o,
    .free_o    (read_free),
    .begins_i  (acts_i && (decision_o.reads || decision_o.operates)),
    .keeps_i   (decision_o.keeps),
    .left_i,
    .note_i,
    .none_o    (no_reads_o)
  );

  request_checks #(
    .Serves(Serves)
  ) u_checks (
    .request_i,
    .receiver_i,
    .progress_i,
    .head_valid_i,
    .head_i,
    .permitted_i (permitted),
    .read_free_i (read_free),
    .read_known_i(read_known),
    .decision_o  (connected)
  );

  datagram_checks u_datagram_checks (
    .request_i,
    .receiver_i,
    .progress_i,
    .head_valid_i,
    .head_i,
    .permitted_i(permitted),
    .decision_o (datagram)
  );

  always_comb begin
    service = receiver_i.reliable ? ServiceRc[2:0] : ServiceUc[2:0];
    if (receiver_i.datagram) service = ServiceUd[2:0];
  end

  // Frames of strangers, and of what is no request, only leave their payload.
  assign match = good_i && receiver_i.receiving && receiver_i.local_qpn == request_i.dest_qpn
      && request_i.opcode[7:5] == service
      && (receiver_i.datagram || receiver_i.path.remote_gid == request_i.src_gid);

  always_ff @(posedge clk_i) begin
    if (look_i) match_q <= match;
    if (decide_i) begin
      decision_o <= '0;
      if (match_q) decision_o <= receiver_i.datagram ? datagram : connected;
    end
  end

endmodule

`default_nettype wire
