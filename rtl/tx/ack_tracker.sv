// SPDX-License-Identifier: BSD-2-Clause
//
// Owns what is known about acknowledgement, per QP: the PSNs sent and not yet
// acknowledged, and the timer. One operation after the other reads one QP's
// context, decides and writes it, a cycle each; behind or before a departure
// the next one is chosen while this one decides.
//
//   configure  the context starts afresh; a QP with pending messages first
//              fails, and the configuration waits for its flush
//   departed   an RC frame has left: it may be acknowledged from now on
//   start      a message asks for a place; waits while Pending messages or
//              2^23 PSNs are outstanding, refused when the QP has failed and
//              been flushed
//   response   ACK n completes what ends at or before n; NAK n what ends
//              before n, and fails the QP. Ignored: responses of another peer
//              or to another QPN, PSNs outside what was sent and not yet
//              acknowledged, reserved syndromes. A fault that a response shows,
//              where READs are sent, is a NAK at its PSN
//   scan       fails the QP if its timer has run out
//   flush      of a failed QP: its oldest message completes with the status
//              that failed it, the others as flushed
//
// The messages and their completions are kept beside it (pending_messages.sv).
// There is no retransmission, so every NAK and every timeout fails the QP. Its
// flush waits until the frames issued before have left, and the data of READs that
// it had taken are in memory: neither follows its error completion, and no frame
// outlives a restart.

`default_nettype none

module ack_tracker
  import roceproof_dut_pkg::*;
  import roce_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned ClockPs   = 6400,
  parameter int unsigned Qps       = 16,
  parameter int unsigned Pending   = 16,  // RC messages per QP awaiting acknowledgement
  parameter int unsigned WaitBits  = 5,
  parameter int unsigned Recovery  = 0,   // 1: what is lost is sent again
  parameter int unsigned Reads     = 0,   // 1: READs are sent, each of which uses many PSNs
  parameter int unsigned Credits   = 0,   // 1: QPs may obey end-to-end credits
  parameter int unsigned Ipv6      = 0,
  parameter int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 configure_valid_i,
  output logic                      configure_ready_o,
  input  wire qp_config_t           config_i,
  output logic                      configure_o,         // config_i takes effect
  input  wire logic                 start_valid_i,
  output logic                      start_ready_o,
  input  wire message_start_t       start_i,
  output logic                      start_refused_o,
  output generation_t               start_generation_o,
  input  wire logic                 departed_valid_i,
  output logic                      departed_ready_o,
  input  wire departure_t           departed_i,
  input  wire logic                 departure_owed_i,    // a frame left, departed_i is late
  input  wire logic [WaitBits-1:0]  departures_i,        // still to come
  input  wire logic                 departure_popped_i,  // one of them comes
  input  wire logic                 landed_i,            // the data that a failed QP had taken
  input  wire logic                 response_valid_i,
  output logic                      response_ready_o,
  input  wire response_t            response_i,
  input  wire fault_t               fault_i,             // with it
  output logic                      flushes_o,           // or is going to, a failed QP
  output logic                      failed_o,
  output logic      [IndexBits-1:0] failed_index_o,
  // What the send window and the credit gate follow, and the replay buffer does.
  output logic                      oldest_valid_o,
  output logic      [23:0]          oldest_o,            // its place
  output logic                      held_valid_o,
  output logic                      held_o,
  output logic                      admits_o,            // its newest message, by its credits
  output logic      [IndexBits-1:0] index_o,             // their QP, and that of the copy
  input  wire logic [Qps-1:0]       paced_i,             // by QP: its rate lets a copy leave
  input  wire logic                 issued_i,
  input  wire logic [IndexBits-1:0] issued_index_i,
  input  wire slot_t                issued_slot_i,
  input  wire logic [23:0]          issued_more_i,       // PSNs than one
  input  wire logic [23:0]          issued_psn_i,        // the last that it uses
  output logic                      copy_o,
  output copy_t                     copied_o,
  input  wire logic                 copy_waits_i,
  output logic                      completion_valid_o,
  input  wire logic                 completion_ready_i,
  output completion_t               completion_o
);

  if (Pending < 2 || (Pending & (Pending - 1)) != 0) begin : gen_bad_pending
    $error("Pending must be a power of two, at least 2");
  end

  typedef logic [IndexBits-1:0] index_t;

  typedef struct packed {
    generation_t generation;
    logic        reliable;    // an active RC QP
    logic        failed;
    logic [23:0] oldest;      // first PSN not yet acknowledged
    logic [23:0] next;        // first PSN not yet sent
    logic [23:0] asked;       // latest PSN sent that asks for an acknowledgement
    logic        timing;
    logic [31:0] since;       // start of the timer
  } context_t;

  typedef struct packed {
    logic [31:0]  local_qpn;
    logic [127:0] remote_gid;
    logic [4:0]   timeout;
  } peer_t;

  typedef enum logic [2:0] {
    StClear,      // after reset, every context in turn
    StSelect,     // choose an operation
    StRead,       // its context
    StMeasure,    // scan: how long has the timer run? replay, of READs: where does the copy end?
    StExecute,    // decide, and choose the next one if it may overlap
    StConfigure,  // the configuration takes effect
    StFail,       // the QP has failed
    StFence       // note how many frames must leave before the flush
  } state_e;

  state_e              state_q;
  ack_op_e             op, op_q;
  logic                op_valid, take;
  index_t              index, index_q, write_index_q;
  departure_t          departed_q;

  context_t            stored;         // valid in StExecute
  context_t            written, written_q;
  logic                write, write_q;
  peer_t               peer;

  logic                concerned;      // the configuration is for the QP in this place
  logic                awaited;        // what has left still needs its acknowledgement
  logic                room;           // for the message that asks
  logic                unanswered;     // something asks for an acknowledgement still
  logic                full, empty;    // pending messages of this QP
  logic                retires, retire_waits, flushes;
  retirement_t         retirement;
  logic                fails;          // this operation fails the QP
  logic                fencing_q;      // a failed QP waits for its flush
  status_e             fault_q;        // with this status
  logic [7:0]          fault_syndrome_q;
  index_t              flush_index_q;  // this one
  logic [WaitBits-1:0] fence_q;        // departures before its flush

  // Timer.
  logic [31:0] now;
  logic [31:0] elapsed_q;
  logic        scan_valid;
  index_t      scan_index;
  logic        expired;

  ack_timer #(
    .ClockPs(ClockPs),
    .Qps    (Qps)
  ) u_timer (
    .clk_i,
    .rst_ni,
    .now_o       (now),
    .scan_valid_o(scan_valid),
    .scan_ready_i(state_q == StExecute && op_q == OpScan),
    .scan_index_o(scan_index)
  );

  always_ff @(posedge clk_i) elapsed_q <= now - stored.since;

  // The count begins somewhere inside a tick, so 2^t ticks have surely passed
  // when more than 2^t are counted.
  assign expired = stored.timing && peer.timeout != '0
                   && elapsed_q > 32'd1 << peer.timeout;

  // Response.
  logic    is_ack, is_nak, faulty, ack, nak;
  status_e syndrome_status, nak_status;
  logic    is_peers, relevant;

  // Recovery.
  logic    repeats;    // this NAK or timeout does not fail the QP
  logic    rests;      // no timer for now
  logic    replay_valid, copies;
  index_t  replay_index;
  copy_t   copied;
  logic    [23:0] lead;

  aeth_decoder u_decoder (
    .syndrome_i(response_i.syndrome),
    .ack_o     (is_ack),
    .nak_o     (is_nak),
    .status_o  (syndrome_status)
  );

  assign faulty     = Reads != 0 && fault_i.status != StatusSuccess;
  assign ack        = is_ack && !faulty;
  assign nak        = is_nak || faulty;
  assign nak_status = faulty ? fault_i.status : syndrome_status;

  // No more than 2^23 PSNs are outstanding.
  assign is_peers = stored.reliable && !stored.failed
      && peer.local_qpn == {8'd0, response_i.dest_qpn}
      && peer.remote_gid == response_i.src_gid;
  assign relevant = (ack || nak) && is_peers
      && !precedes(response_i.psn, stored.oldest) && precedes(response_i.psn, stored.next);

  assign unanswered = ack ? precedes(response_i.psn, stored.asked)
                          : !precedes(stored.asked, response_i.psn);

  // A response waits until the departure of what it may answer is accounted for.
  ack_arbiter u_arbiter (
    .clk_i,
    .rst_ni,
    .departed_i      (departed_valid_i),
    .fencing_i       (fencing_q),
    .flush_i         (fence_q == '0 && landed_i && !copies && !retire_waits),
    .configure_i     (configure_valid_i && !copies),
    .response_i      (response_valid_i && !departure_owed_i && !retire_waits),
    .response_fails_i(nak),
    .scan_i          (scan_valid),
    .start_i         (start_valid_i),
    .replay_i        (replay_valid && !copy_waits_i && !configure_valid_i),
    .valid_o         (op_valid),
    .ready_i         (take),
    .op_o            (op)
  );

  always_comb begin
    case (op)
      OpConfigure: index = config_i.local_qpn[IndexBits-1:0];
      OpDeparted:  index = departed_i.completion.qpn[IndexBits-1:0];
      OpStart:     index = start_i.qpn[IndexBits-1:0];
      OpResponse:  index = response_i.dest_qpn[IndexBits-1:0];
      OpScan:      index = scan_index;
      OpReplay:    index = replay_index;
      default:     index = flush_index_q;
    endcase
  end

  // No operation overlaps one that may fail a QP, and no two of a kind overlap but departures,
  // which are taken when they are chosen.
  logic chooses;
  assign chooses          = state_q == StSelect || (state_q == StExecute && (op_q == OpDeparted
                            || (departed_valid_i && (op_q == OpStart || (op_q == OpResponse && ack)))));
  assign take             = chooses && op_valid;
  assign departed_ready_o = chooses;

  // What becomes of the context.
  always_comb begin
    write            = 1'b0;
    written          = stored;
    start_ready_o    = 1'b0;
    response_ready_o = 1'b0;
    retires          = 1'b0;
    fails            = 1'b0;

    case (state_q)
      StClear: begin
        write   = 1'b1;
        written = '0;
      end

      StExecute: case (op_q)
        OpConfigure: if (empty) begin
          write              = concerned;
          written            = '0;
          written.generation = stored.generation + 1'b1;
          written.reliable   = config_i.command == QpActivate && config_i.service == ServiceRc;
          written.oldest     = config_i.sq_psn[23:0];
          written.next       = config_i.sq_psn[23:0];
          written.asked      = config_i.sq_psn[23:0] - 24'd1;
        end else begin
          fails = concerned && !stored.failed;
        end

        OpDeparted: begin
          write = departed_q.generation == stored.generation;
          if (!departed_q.copy) written.next = departed_q.psn + 24'd1;
          if (!departed_q.copy && departed_q.ack_req) written.asked = departed_q.psn;
          if (departed_q.ack_req && !stored.timing && !stored.failed && awaited && !rests) begin
            written.timing = 1'b1;
            written.since  = now;
          end
        end

        OpStart: start_ready_o = stored.failed ? empty : room;

        OpResponse: begin
          response_ready_o = 1'b1;
          retires          = relevant;
          fails            = relevant && nak && !repeats;
          write            = relevant;
          written.oldest   = retirement.bound;
          if (Recovery == 0 || retirement.bound != stored.oldest) begin
            written.timing = unanswered;
            written.since  = now;
          end
          if (rests) written.timing = 1'b0;
        end

        OpScan: begin
          fails          = expired && !repeats;
          write          = expired;
          written.timing = 1'b0;
        end

        OpFlush: retires = 1'b1;

        default: ;
      endcase

      default: ;
    endcase

    if (fails) begin
      write          = 1'b1;
      written.failed = 1'b1;
      written.timing = 1'b0;
    end
  end

  // A copy may leave when its PSN has been acknowledged.
  assign awaited   = !departed_q.copy || distance(departed_q.psn, stored.oldest) < 24'h80_0000;
  assign concerned = config_i.command == QpActivate || peer.local_qpn == config_i.local_qpn;
  assign room      = !full
                     && distance(start_i.last_psn, stored.oldest) < 24'h80_0000;

  assign configure_ready_o  = state_q == StConfigure;
  assign configure_o        = state_q == StConfigure && write_q;
  assign failed_o           = state_q == StFail;
  assign failed_index_o     = index_q;
  assign flushes_o          = fencing_q || flushes;
  assign start_refused_o    = stored.failed;
  assign start_generation_o = stored.generation;

  always_comb begin
    retirement.qpn      = peer.local_qpn;
    retirement.flush    = op_q == OpFlush;
    retirement.bound    = response_i.psn + 24'(ack);
    if (faulty) retirement.bound = fault_i.psn;
    retirement.status   = fault_q;
    retirement.syndrome = op_q == OpFlush ? fault_syndrome_q : response_i.syndrome;
  end

  pending_messages #(
    .Qps    (Qps),
    .Pending(Pending)
  ) u_pending (
    .clk_i,
    .rst_ni,
    .clear_i           (state_q == StClear),
    .lookup_i          (state_q == StRead),
    .index_i           (index_q),
    .full_o            (full),
    .empty_o           (empty),
    .start_valid_i     (start_ready_o && !stored.failed),
    .start_i,
    .retire_valid_i    (retires),
    .retire_i          (retirement),
    .retire_waits_o    (retire_waits),
    .flushes_o         (flushes),
    .completion_valid_o,
    .completion_ready_i,
    .completion_o
  );

  always_ff @(posedge clk_i) begin
    write_q       <= write;
    write_index_q <= index_q;
    written_q     <= written;
    if (!rst_ni) begin
      state_q   <= StClear;
      index_q   <= '0;
      fencing_q <= 1'b0;
      write_q   <= 1'b0;
    end else begin
      if (departure_popped_i && fence_q != '0) fence_q <= fence_q - 1'b1;

      case (state_q)
        StClear: begin
          index_q <= index_q + 1'b1;
          if (&index_q) state_q <= StSelect;
        end

        StRead: begin
          state_q <= op_q == OpScan || (Reads != 0 && op_q == OpReplay) ? StMeasure : StExecute;
        end
        StMeasure: state_q <= StExecute;

        StExecute: begin
          state_q <= StSelect;
          case (op_q)
            OpConfigure: begin
              fault_q          <= StatusWrFlushErr;
              fault_syndrome_q <= 8'hff;
              if (!concerned || empty) state_q <= StConfigure;
            end
            OpResponse: if (nak) begin
              fault_q          <= nak_status;
              fault_syndrome_q <= faulty ? 8'hff : response_i.syndrome;
            end
            OpScan: if (expired && !repeats) begin
              fault_q          <= StatusRetryExcErr;
              fault_syndrome_q <= 8'hff;
            end
            OpFlush: fencing_q <= 1'b0;
            default: ;
          endcase
          if (fails) begin
            state_q   <= StFail;
            fencing_q <= 1'b1;
          end
          if (!fencing_q) flush_index_q <= index_q;
        end

        StFail:  state_q <= StFence;
        StFence: begin
          fence_q <= departures_i - WaitBits'(departure_popped_i);
          state_q <= StSelect;
        end

        default: state_q <= StSelect;
      endcase

      if (take) begin
        op_q       <= op;
        index_q    <= index;
        departed_q <= departed_i;
        state_q    <= StRead;
      end
    end
  end

  assign oldest_valid_o    = state_q == StExecute;
  assign oldest_o          = (write ? written.oldest : stored.oldest) - lead;
  assign index_o           = index_q;

  if (Recovery != 0) begin : gen_recovery
    assign held_valid_o = state_q == StExecute;

    // Data that are lost are a NAK in their place.
    response_t heeded;
    always_comb begin
      heeded = response_i;
      if (faulty) begin
        heeded.psn      = fault_i.psn;
        heeded.syndrome = fault_i.status == StatusRetryExcErr ? 8'h60 : 8'hff;
      end
      copied_o            = copied;
      copied_o.generation = stored.generation;
    end

    recovery #(
      .Qps  (Qps),
      .Reads(Reads)
    ) u_recovery (
      .clk_i,
      .rst_ni,
      .now_i            (now),
      .select_i         (state_q == StRead),
      .select_index_i   (index_q),
      .measure_i        (state_q == StMeasure),
      .clear_i          (state_q == StClear),
      .execute_i        (state_q == StExecute),
      .op_i             (op_q),
      .index_i          (index_q),
      .config_i,
      .configure_i      (state_q == StExecute && op_q == OpConfigure && concerned && empty),
      .configure_ready_i(!concerned || empty),
      .configured_i     (configure_o),
      .oldest_i         (stored.oldest),
      .relevant_i       (relevant),
      .response_i       (heeded),
      .ack_i            (ack),
      .answered_i       (fault_i.answered),
      .ended_i          (fault_i.ended),
      .expired_i        (expired),
      .repeats_o        (repeats),
      .rests_o          (rests),
      .held_o,
      .paced_i          (paced_i[index_q]),
      .lead_o           (lead),
      .issued_i,
      .issued_index_i,
      .issued_slot_i,
      .issued_more_i,
      .issued_psn_i,
      .replay_valid_o   (replay_valid),
      .replay_ready_i   (take && op == OpReplay),
      .replay_index_o   (replay_index),
      .copy_o,
      .copied_o         (copied),
      .copy_left_i      (departed_valid_i && departed_ready_o && departed_i.copy),
      .copies_o         (copies)
    );
  end else begin : gen_no_recovery
    logic unused_recovery;
    assign unused_recovery = ^{issued_i, issued_index_i, issued_slot_i, issued_more_i,
                               issued_psn_i, paced_i, copied, fault_i.answered, fault_i.ended};
    assign copied          = '0;
    assign copied_o        = '0;
    assign lead            = '0;
    assign held_valid_o    = 1'b0;
    assign held_o          = 1'b0;
    assign repeats         = 1'b0;
    assign rests           = 1'b0;
    assign replay_valid    = 1'b0;
    assign replay_index    = '0;
    assign copy_o          = 1'b0;
    assign copies          = 1'b0;
  end

  if (Credits != 0) begin : gen_credits
    send_credits #(
      .Qps(Qps)
    ) u_send_credits (
      .clk_i,
      .select_i      (state_q == StRead),
      .select_index_i(index_q),
      .execute_i     (state_q == StExecute),
      .index_i       (index_q),
      .configure_i   (op_q == OpConfigure && concerned && empty),
      .obeys_i       (config_i.access.flow_control),
      .start_i       (start_ready_o && !start_refused_o),
      .acks_i        (op_q == OpResponse && ack && is_peers && !fault_i.mute),
      .relevant_i    (relevant),
      .again_i       (response_i.psn + 24'd1 == stored.oldest),
      .moves_i       (op_q == OpResponse && relevant && retirement.bound != stored.oldest),
      .code_i        (response_i.syndrome[4:0]),
      .msn_i         (response_i.msn),
      .admits_o
    );
  end else begin : gen_no_credits
    logic unused_credits;
    assign unused_credits = ^{response_i.msn, fault_i.mute};
    assign admits_o       = 1'b1;
  end

  // Read while the operation before is written.
  ram_1r1w #(
    .Width  ($bits(context_t)),
    .Words  (Qps),
    .Forward(1)
  ) u_contexts (
    .clk_i,
    .write_i      (write_q),
    .write_index_i(write_index_q),
    .write_data_i (written_q),
    .read_i       (state_q == StRead),
    .read_index_i (index_q),
    .read_data_o  (stored)
  );

  ram_1r1w #(
    .Width($bits(peer_t)),
    .Words(Qps)
  ) u_peers (
    .clk_i,
    .write_i      (configure_o),
    .write_index_i(index_q),
    .write_data_i ({config_i.local_qpn, kept_gid(config_i.remote_gid, Ipv6),
                    config_i.ack_timeout[4:0]}),
    .read_i       (state_q == StRead),
    .read_index_i (index_q),
    .read_data_o  (peer)
  );

  assert_psn_in_order: assert property (@(posedge clk_i) disable iff (!rst_ni)
      state_q == StExecute && op_q == OpDeparted && write && !departed_q.copy
      |-> departed_q.psn == stored.next || (Reads != 0 && !precedes(departed_q.psn, stored.next)))
  else $error("PSN sent out of order");

  assert_start_reliable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      start_ready_o |-> stored.reliable && peer.local_qpn == start_i.qpn)
  else $error("a message started on a QP that is not an active RC QP");

  assert_failure_has_message: assert property (@(posedge clk_i) disable iff (!rst_ni)
      fails |-> !empty)
  else $error("a QP failed without a message to blame");

endmodule

`default_nettype wire
