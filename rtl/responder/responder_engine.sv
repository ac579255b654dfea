// SPDX-License-Identifier: BSD-2-Clause
//
// The responder's sequence: one request after the other is looked up, decided
// on and acted on, four cycles each, a repeated READ or atomic some more. Between
// requests it takes what the host says: QP configurations and memory regions once all
// before is in memory and answered, receives at any time. What would change memory
// waits for the READs before it, an atomic for all, and what is behind one for it.

`default_nettype none

module responder_engine
  import request_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Qps       = 16,
  parameter int unsigned Regions   = 16,
  parameter int unsigned Receives  = 16,  // posted on one QP
  parameter serves_t     Serves    = '0,
  localparam int unsigned Lanes     = DataWidth / 8,
  localparam int unsigned LaneBits  = $clog2(Lanes),
  localparam int unsigned CountBits = $clog2(MaxPayload / Lanes + 1),
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 qpc_valid_i,
  output      logic                 qpc_ready_o,
  input  wire qp_config_t           config_i,
  input  wire logic                 region_valid_i,
  output      logic                 region_ready_o,
  input  wire memory_region_t       region_i,
  input  wire logic                 receive_valid_i,
  output      logic                 receive_ready_o,
  input  wire receive_t             receive_i,

  input  wire logic                 request_valid_i,
  output      logic                 request_ready_o,
  input  wire logic                 good_i,
  input  wire request_t             request_i,
  input  wire logic [CountBits-1:0] beats_i,

  output      logic                 payload_valid_o,
  input  wire logic                 payload_ready_i,
  output      logic                 forget_o,
  output      logic [CountBits-1:0] beats_o,
  output      logic [LaneBits-1:0]  tail_o,

  output      logic                 write_valid_o,
  input  wire logic                 write_ready_i,
  output      memory_command_t      write_o,
  output      logic                 write_short_o,  // its data are not the payload

  output      logic                 operate_o,      // the atomic that is the request
  output      logic [63:0]          operand_address_o,
  input  wire logic                 operated_i,
  input  wire logic                 stores_i,
  input  wire logic [63:0]          original_i,

  output      logic                 outcome_valid_o,
  input  wire logic                 outcome_ready_i,
  output      outcome_t             outcome_o,
  output      write_count_t         asked_o,
  input  wire logic                 may_write_i,
  input  wire logic                 settled_i,
  input  wire logic                 left_i,   // an answer's frame, and this is its note
  input  wire read_note_t           note_i,

  output      receiver_t            told_o,     // by the configuration
  output      logic                 changed_o,  // this queue pair is configured, or it fails
  output      logic [IndexBits-1:0] index_o
);

  typedef enum logic [3:0] {
    StIdle,
    StConfigure,
    StPost,
    StLook,       // what is known of the QP is there: which memory is meant?
    StRecall,     // and has this READ come before?
    StDecide,     // and the answer to that
    StAct,
    StForget,     // the region whose key the request names
    StFlush,      // the receive at the head ends
    StFlushNext
  } state_e;

  state_e               state_q;
  logic                 post_blocked_q, first_flushed_q;
  logic [IndexBits-1:0] index_q, index;
  receiver_t            receiver;
  progress_t            progress;
  receive_slot_t        head;
  logic                 head_valid, queue_room, store_ready, judge_ready;
  logic [63:0]          memory_address;
  decision_t            decision;
  kept_t                kept;
  logic                 is_known_queue, is_own, recalls, recalled, no_reads, settled;
  logic                 configures, begins, clears_receives, fails_configured;

  assign settled    = settled_i && no_reads;
  assign configures = state_q == StConfigure;

  // What Idle takes up.
  logic idle, commands_wait, takes_config, takes_region, takes_receive, takes_request, lookup;
  assign idle          = state_q == StIdle && store_ready && judge_ready;
  assign commands_wait = qpc_valid_i || region_valid_i;
  assign takes_config  = idle && qpc_valid_i && settled;
  assign takes_region  = idle && !qpc_valid_i && region_valid_i && settled;
  assign takes_receive = idle && !commands_wait && receive_valid_i && !post_blocked_q;
  assign takes_request = idle && !commands_wait && !takes_receive && request_valid_i;
  assign lookup        = takes_config || takes_receive || takes_request || state_q == StFlushNext;

  always_comb begin
    index = index_q;
    if (takes_config) index = config_i.local_qpn[IndexBits-1:0];
    if (takes_receive) index = receive_i.qpn[IndexBits-1:0];
    if (takes_request) index = request_i.dest_qpn[IndexBits-1:0];
  end

  // Acting.
  logic acts, act_outcome, act_payload, writes_ready;
  assign act_outcome = decision.answers || decision.completes;
  assign act_payload = beats_i != '0;
  assign acts = state_q == StAct && (!act_payload || payload_ready_i)
      && (!decision.operates || operated_i) && writes_ready && (!decision.invalidates || no_reads)
      && (!act_outcome || outcome_ready_i);

  // The first receive flushed may be the one in use; others stay on a shared queue.
  logic flushes, flushable, posts, refuses, refuses_post;
  assign flushable    = head_valid && (is_own || !first_flushed_q);
  assign flushes      = state_q == StFlush && flushable && outcome_ready_i;
  assign refuses      = progress.failed && !(Serves.shared && receive_i.srq != '0);
  assign posts        = state_q == StPost && is_known_queue && !refuses && queue_room;
  assign refuses_post = state_q == StPost && is_known_queue && refuses;

  queue_pair_store #(
    .Qps            (Qps),
    .Receives       (Receives),
    .ServesDatagrams(Serves.datagrams),
    .ServesIpv6     (Serves.ipv6),
    .SharesReceives (Serves.shared)
  ) u_queue_pairs (
    .clk_i,
    .rst_ni,
    .ready_o     (store_ready),
    .index_i     (index),
    .lookup_i    (lookup),
    .receiver_o  (receiver),
    .progress_o  (progress),
    .head_valid_o(head_valid),
    .head_o      (head),
    .is_own_o    (is_own),
    .configure_i (configures),
    .config_i,
    .told_o,
    .begins_o    (begins),
    .clears_o    (clears_receives),
    .fails_o     (fails_configured),
    .advance_i   (acts && decision.changes),
    .progress_i  (decision.progress),
    .receive_i,
    .names_i     (takes_receive || state_q == StPost),
    .known_o     (is_known_queue),
    .room_o      (queue_room),
    .post_i      (posts),
    .take_i      (flushes || (acts && decision.completes))
  );

  request_judge #(
    .Qps    (Qps),
    .Regions(Regions),
    .Serves (Serves)
  ) u_judge (
    .clk_i,
    .rst_ni,
    .ready_o       (judge_ready),
    .region_valid_i(takes_region),
    .region_i,
    .good_i,
    .request_i,
    .index_i       (index_q),
    .receiver_i    (receiver),
    .progress_i    (progress),
    .head_valid_i  (head_valid),
    .head_i        (head),
    .look_i        (state_q == StLook),
    .recalls_o     (recalls),
    .recalled_o    (recalled),
    .decide_i      (state_q == StDecide),
    .decision_o    (decision),
    .address_o     (memory_address),
    .kept_o        (kept),
    .original_i,
    .acts_i        (acts),
    .forget_i      (state_q == StForget),
    .clear_i       (begins),
    .left_i,
    .note_i,
    .no_reads_o    (no_reads)
  );

  always_ff @(posedge clk_i) begin
    index_q <= index;

    unique case (state_q)
      StIdle: begin
        if (takes_config) state_q <= StConfigure;
        if (takes_receive) state_q <= StPost;
        if (takes_request) state_q <= StLook;
      end
      StConfigure: begin
        first_flushed_q <= 1'b1;
        state_q         <= fails_configured ? StFlush : StIdle;
      end
      StPost: if (receive_ready_o || !refuses_post) state_q <= StIdle;
      StLook: state_q <= recalls ? StRecall : StDecide;
      StRecall: if (recalled) state_q <= StDecide;
      StDecide: state_q <= StAct;
      StAct: begin
        first_flushed_q <= !decision.uses_receive;
        if (acts) begin
          state_q <= StIdle;
          if (decision.invalidates) state_q <= StForget;
          if (decision.fails) state_q <= StFlush;
        end
      end
      StForget: state_q <= StIdle;
      StFlush: begin
        if (!flushable) state_q <= StIdle;
        else if (outcome_ready_i) state_q <= StFlushNext;
      end
      StFlushNext: begin
        first_flushed_q <= 1'b1;
        state_q         <= StFlush;
      end
    endcase

    if (acts || flushes || clears_receives) post_blocked_q <= 1'b0;
    else if (state_q == StPost && is_known_queue && !refuses_post && !queue_room) begin
      post_blocked_q <= 1'b1;
    end
    if (write_valid_o) asked_o <= asked_o + 1'b1;

    if (!rst_ni) begin
      state_q        <= StIdle;
      post_blocked_q <= 1'b0;
      asked_o        <= '0;
    end
  end

  assign changed_o       = begins || clears_receives || (acts && decision.fails);
  assign index_o         = index_q;
  assign qpc_ready_o     = configures;
  assign region_ready_o  = takes_region;
  assign receive_ready_o = state_q == StPost
      && (!is_known_queue || posts || (refuses_post && outcome_ready_i));
  assign request_ready_o = acts;

  assign payload_valid_o = acts && act_payload;
  assign forget_o        = !decision.writes;
  assign beats_o         = beats_i;
  assign tail_o          = request_i.payload_bytes[LaneBits-1:0];

  assign operate_o         = state_q == StAct && decision.operates && settled;
  assign operand_address_o = memory_address;

  request_writes #(
    .HeadBytes(Serves.ipv6 ? NetworkHeaderBytes : Ipv4Bytes)
  ) u_writes (
    .clk_i,
    .rst_ni,
    .decided_i      (state_q == StAct),
    .decision_i     (decision),
    .stores_i,
    .address_i      (memory_address),
    .payload_bytes_i(request_i.payload_bytes),
    .asked_i        (asked_o),
    .may_write_i    (may_write_i && no_reads),
    .ready_o        (writes_ready),
    .acts_i         (acts),
    .write_valid_o,
    .write_ready_i,
    .write_o,
    .is_short_o     (write_short_o)
  );

  assign outcome_valid_o = (acts && act_outcome) || flushes || (refuses_post && outcome_ready_i);

  outcome_builder u_outcome (
    .acts_i         (state_q == StAct),
    .posts_i        (state_q == StPost),
    .first_flushed_i(first_flushed_q),
    .request_i,
    .decision_i     (decision),
    .receiver_i     (receiver),
    .head_i         (head),
    .posted_wr_id_i (receive_i.wr_id),
    .index_i        (11'(index_q)),
    .address_i      (memory_address),
    .original_i,
    .kept_i         (kept),
    .asked_i        (asked_o + write_count_t'(write_valid_o)),
    .outcome_o
  );

endmodule

`default_nettype wire
