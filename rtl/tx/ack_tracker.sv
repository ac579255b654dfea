// SPDX-License-Identifier: BSD-2-Clause
//
// Owns what is known about acknowledgement, per QP: the PSNs sent and not yet
// acknowledged, the RC messages awaiting completion in order, and the timer.
// One operation at a time reads, changes and writes one QP's context:
//
//   configure  the context starts afresh; a QP with pending messages first
//              fails, and the configuration waits for its flush
//   departed   an RC frame has left: it may be acknowledged from now on
//   start      a message asks for a place; waits while Pending messages or
//              2^23 PSNs are outstanding, refused when the QP has failed
//   response   ACK n completes what ends at or before n; NAK n what ends
//              before n, and fails the QP. Ignored: responses of another peer
//              or to another QPN, PSNs outside what was sent and not yet
//              acknowledged, reserved syndromes
//   scan       fails the QP if its timer has run out
//   flush      of a failed QP: its oldest message completes with the status
//              that failed it, the others as flushed
//
// There is no retransmission, so every NAK and every timeout fails the QP. Its
// flush waits until the frames issued before have left: no frame of the QP
// follows its error completion, and none outlives a restart.

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
  input  wire logic                 response_valid_i,
  output logic                      response_ready_o,
  input  wire response_t            response_i,
  output logic                      failed_o,
  output logic      [IndexBits-1:0] failed_index_o,
  // What the send window follows, and the replay buffer does.
  output logic                      oldest_valid_o,
  output logic      [23:0]          oldest_o,
  output logic                      held_valid_o,
  output logic                      held_o,
  output logic      [IndexBits-1:0] index_o,             // their QP, and that of the copy
  input  wire logic                 issued_i,
  input  wire logic [IndexBits-1:0] issued_index_i,
  input  wire logic [23:0]          issued_psn_i,
  output logic                      copy_o,
  output logic      [23:0]          copy_psn_o,
  output generation_t               copy_generation_o,
  input  wire logic                 copy_waits_i,
  output logic                      completion_valid_o,
  input  wire logic                 completion_ready_i,
  output completion_t               completion_o
);

  localparam int unsigned PlaceBits = $clog2(Pending);

  if (Pending < 2 || (Pending & (Pending - 1)) != 0) begin : gen_bad_pending
    $error("Pending must be a power of two, at least 2");
  end

  typedef logic [IndexBits-1:0] index_t;
  typedef logic [PlaceBits-1:0] place_t;
  typedef logic [PlaceBits:0]   count_t;

  typedef struct packed {
    generation_t generation;
    logic        reliable;    // an active RC QP
    logic        failed;
    logic [23:0] oldest;      // first PSN not yet acknowledged
    logic [23:0] next;        // first PSN not yet sent
    place_t      head;        // oldest pending message
    count_t      count;
    logic        timing;
    logic [31:0] since;       // start of the timer
  } context_t;

  typedef struct packed {
    logic [31:0] local_qpn;
    logic [31:0] remote_ipv4;
    logic [4:0]  timeout;
  } peer_t;

  typedef struct packed {
    logic [63:0] wr_id;
    logic [23:0] last_psn;
  } message_t;

  typedef enum logic [2:0] {
    StClear,    // after reset, every context in turn
    StSelect,   // choose an operation, read its context
    StExecute,  // do it, or what of it needs no pending message
    StRetire,   // complete pending messages, write the context back
    StFence     // note how many frames must leave before the flush
  } state_e;

  state_e              state_q;
  ack_op_e             op, op_q;
  logic                op_valid;
  index_t              index, index_q;

  context_t            stored;         // valid in StExecute
  context_t            context_q;      // being worked on in StRetire
  context_t            written;
  logic                write;
  peer_t               peer;
  message_t            message;        // the oldest pending, valid in StRetire

  logic                concerned;      // the configuration is for the QP in this place
  logic                awaited;        // what has left still needs its acknowledgement
  logic                room;           // for the message that asks
  logic                retires;        // the oldest pending message completes
  logic [23:0]         end_q;          // acknowledged up to here, exclusive
  logic [7:0]          syndrome_q;     // of the response
  logic                fails_q;        // this operation fails the QP
  logic                fencing_q;      // a failed QP waits for its flush
  status_e             fault_q;        // with this status
  logic [7:0]          fault_syndrome_q;
  index_t              flush_index_q;  // this one
  logic [WaitBits-1:0] fence_q;        // departures before its flush
  logic                first_q;        // of the flushed messages

  function automatic logic [23:0] distance(logic [23:0] to, logic [23:0] from);
    return to - from;
  endfunction

  // Timer.
  logic [31:0] now;
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

  // The count begins somewhere inside a tick, so 2^t ticks have surely passed
  // when more than 2^t are counted.
  assign expired = stored.timing && peer.timeout != '0
                   && now - stored.since > 32'd1 << peer.timeout;

  // Response.
  logic    ack, nak;
  status_e nak_status;
  logic    relevant;

  // Recovery.
  logic    repeats;    // this NAK or timeout does not fail the QP
  logic    rests;      // no timer for now
  logic    rests_q;
  logic    replay_valid, copies;
  index_t  replay_index;

  aeth_decoder u_decoder (
    .syndrome_i(response_i.syndrome),
    .ack_o     (ack),
    .nak_o     (nak),
    .status_o  (nak_status)
  );

  assign relevant = (ack || nak) && stored.reliable && !stored.failed
      && peer.local_qpn == {8'd0, response_i.dest_qpn}
      && peer.remote_ipv4 == response_i.src_ipv4
      && distance(response_i.psn, stored.oldest) < distance(stored.next, stored.oldest);

  // A response waits until the departure of what it may answer is accounted for.
  ack_arbiter u_arbiter (
    .clk_i,
    .rst_ni,
    .departed_i      (departed_valid_i),
    .fencing_i       (fencing_q),
    .flush_i         (fence_q == '0 && !copies),
    .configure_i     (configure_valid_i && !copies),
    .response_i      (response_valid_i && !departure_owed_i),
    .response_fails_i(nak),
    .scan_i          (scan_valid),
    .start_i         (start_valid_i),
    .replay_i        (replay_valid && !copy_waits_i && !configure_valid_i),
    .valid_o         (op_valid),
    .ready_i         (state_q == StSelect),
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

  // What becomes of the context.
  always_comb begin
    write             = 1'b0;
    written           = stored;
    configure_o       = 1'b0;
    start_ready_o     = 1'b0;
    departed_ready_o  = 1'b0;
    response_ready_o  = 1'b0;
    configure_ready_o = 1'b0;
    failed_o          = 1'b0;

    case (state_q)
      StClear: begin
        write   = 1'b1;
        written = '0;
      end

      StExecute: begin
        case (op_q)
          OpConfigure: begin
            configure_ready_o  = !concerned || stored.count == '0;
            configure_o        = concerned && stored.count == '0;
            write              = configure_o;
            written            = '0;
            written.generation = stored.generation + 1'b1;
            written.reliable   = config_i.command == QpActivate && config_i.service == ServiceRc;
            written.oldest     = config_i.sq_psn[23:0];
            written.next       = config_i.sq_psn[23:0];
          end

          OpDeparted: begin
            departed_ready_o = 1'b1;
            write            = departed_i.generation == stored.generation;
            if (!departed_i.copy) written.next = departed_i.psn + 24'd1;
            if (departed_i.ack_req && !stored.timing && !stored.failed && awaited && !rests) begin
              written.timing = 1'b1;
              written.since  = now;
            end
          end

          OpStart: begin
            start_ready_o = stored.failed || room;
            write         = room && !stored.failed;
            written.count = stored.count + 1'b1;
          end

          OpResponse: response_ready_o = 1'b1;

          OpScan: begin
            write          = expired && repeats;
            written.timing = 1'b0;
          end

          default: ;
        endcase
      end

      StRetire: if (!retires) begin
        write   = 1'b1;
        written = context_q;
        if (op_q == OpResponse) begin
          written.oldest = end_q;
          if (Recovery == 0 || end_q != context_q.oldest) begin
            written.timing = (context_q.count != '0
                && distance(message.last_psn, end_q) < distance(context_q.next, end_q))
                || (Recovery != 0 && end_q[23:AskBits] != context_q.next[23:AskBits]);
            written.since  = now;
          end
          if (rests_q) written.timing = 1'b0;
        end
        if (fails_q) begin
          failed_o       = 1'b1;
          written.failed = 1'b1;
          written.timing = 1'b0;
        end
      end

      default: ;
    endcase
  end

  // A copy may leave when its PSN has been acknowledged.
  assign awaited   = !departed_i.copy || distance(departed_i.psn, stored.oldest) < 24'h80_0000;
  assign concerned = config_i.command == QpActivate || peer.local_qpn == config_i.local_qpn;
  assign room      = !stored.count[PlaceBits]
                     && distance(start_i.last_psn, stored.oldest) < 24'h80_0000;

  assign failed_index_o     = index_q;
  assign start_refused_o    = stored.failed;
  assign start_generation_o = stored.generation;

  // Retiring the oldest pending message.
  assign retires = context_q.count != '0 && (op_q == OpFlush
      || (op_q == OpResponse
          && distance(message.last_psn, context_q.oldest) < distance(end_q, context_q.oldest)));

  assign completion_valid_o = state_q == StRetire && retires;

  always_comb begin
    completion_o       = '0;
    completion_o.wr_id = message.wr_id;
    completion_o.qpn   = peer.local_qpn;
    if (op_q == OpResponse) begin
      completion_o.status   = StatusSuccess;
      completion_o.syndrome = syndrome_q;
    end else if (op_q == OpFlush && first_q) begin
      completion_o.status   = fault_q;
      completion_o.syndrome = fault_syndrome_q;
    end else begin
      completion_o.status   = StatusWrFlushErr;
      completion_o.syndrome = 8'hff;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= StClear;
      index_q   <= '0;
      fencing_q <= 1'b0;
    end else begin
      if (departure_popped_i && fence_q != '0) fence_q <= fence_q - 1'b1;

      case (state_q)
        StClear: begin
          index_q <= index_q + 1'b1;
          if (&index_q) state_q <= StSelect;
        end

        StSelect: begin
          op_q    <= op;
          index_q <= index;
          if (op_valid) state_q <= StExecute;
        end

        StExecute: begin
          state_q   <= StSelect;
          context_q <= stored;
          first_q   <= 1'b1;
          fails_q   <= 1'b0;
          case (op_q)
            OpConfigure: if (!configure_ready_o) begin
              fault_q          <= StatusWrFlushErr;
              fault_syndrome_q <= 8'hff;
              fails_q          <= 1'b1;
              state_q          <= StRetire;
            end
            OpResponse: if (relevant) begin
              end_q      <= response_i.psn + 24'(ack);
              syndrome_q <= response_i.syndrome;
              fails_q    <= nak && !repeats;
              rests_q    <= rests;
              state_q    <= StRetire;
              if (nak) begin
                fault_q          <= nak_status;
                fault_syndrome_q <= response_i.syndrome;
              end
            end
            OpScan: if (expired && !repeats) begin
              fault_q          <= StatusRetryExcErr;
              fault_syndrome_q <= 8'hff;
              fails_q          <= 1'b1;
              state_q          <= StRetire;
            end
            OpFlush: begin
              fencing_q <= 1'b0;
              state_q   <= StRetire;
            end
            default: ;
          endcase
        end

        StRetire: begin
          if (!retires) begin
            state_q <= StSelect;
            if (fails_q) begin
              state_q       <= StFence;
              fencing_q     <= 1'b1;
              flush_index_q <= index_q;
            end
          end else if (completion_ready_i) begin
            context_q.head  <= context_q.head + 1'b1;
            context_q.count <= context_q.count - 1'b1;
            first_q         <= 1'b0;
          end
        end

        default: begin  // StFence
          fence_q <= departures_i - WaitBits'(departure_popped_i);
          state_q <= StSelect;
        end
      endcase
    end
  end

  assign oldest_valid_o    = write;
  assign oldest_o          = written.oldest;
  assign index_o           = index_q;
  assign copy_generation_o = stored.generation;

  if (Recovery != 0) begin : gen_recovery
    assign held_valid_o = state_q == StExecute;

    recovery #(
      .Qps(Qps)
    ) u_recovery (
      .clk_i,
      .rst_ni,
      .now_i            (now),
      .select_i         (state_q == StSelect && op_valid),
      .select_index_i   (index),
      .clear_i          (state_q == StClear),
      .execute_i        (state_q == StExecute),
      .op_i             (op_q),
      .index_i          (index_q),
      .config_i,
      .configure_i      (configure_o),
      .configure_ready_i(configure_ready_o),
      .oldest_i         (stored.oldest),
      .relevant_i       (relevant),
      .response_i,
      .ack_i            (ack),
      .expired_i        (expired),
      .repeats_o        (repeats),
      .rests_o          (rests),
      .held_o,
      .issued_i,
      .issued_index_i,
      .issued_psn_i,
      .replay_valid_o   (replay_valid),
      .replay_ready_i   (state_q == StSelect && op_valid && op == OpReplay),
      .replay_index_o   (replay_index),
      .copy_o,
      .copy_psn_o,
      .copy_left_i      (departed_ready_o && departed_i.copy),
      .copies_o         (copies)
    );
  end else begin : gen_no_recovery
    logic unused_recovery;
    assign unused_recovery = ^{issued_i, issued_index_i, issued_psn_i, rests_q};
    assign held_valid_o    = 1'b0;
    assign held_o          = 1'b0;
    assign repeats         = 1'b0;
    assign rests           = 1'b0;
    assign replay_valid    = 1'b0;
    assign replay_index    = '0;
    assign copy_o          = 1'b0;
    assign copy_psn_o      = '0;
    assign copies          = 1'b0;
  end

  ram_1r1w #(
    .Width($bits(context_t)),
    .Words(Qps)
  ) u_contexts (
    .clk_i,
    .write_i      (write),
    .write_index_i(index_q),
    .write_data_i (written),
    .read_i       (state_q == StSelect && op_valid),
    .read_index_i (index),
    .read_data_o  (stored)
  );

  ram_1r1w #(
    .Width($bits(peer_t)),
    .Words(Qps)
  ) u_peers (
    .clk_i,
    .write_i      (configure_o),
    .write_index_i(index_q),
    .write_data_i ({config_i.local_qpn, config_i.remote_gid[31:0], config_i.ack_timeout[4:0]}),
    .read_i       (state_q == StSelect && op_valid),
    .read_index_i (index),
    .read_data_o  (peer)
  );

  ram_1r1w #(
    .Width($bits(message_t)),
    .Words(Qps * Pending)
  ) u_messages (
    .clk_i,
    .write_i      (state_q == StExecute && op_q == OpStart && write),
    .write_index_i({index_q, stored.head + stored.count[PlaceBits-1:0]}),
    .write_data_i ({start_i.wr_id, start_i.last_psn}),
    .read_i       (state_q == StExecute || (completion_valid_o && completion_ready_i)),
    .read_index_i ({index_q, state_q == StExecute ? stored.head : context_q.head + 1'b1}),
    .read_data_o  (message)
  );

  assert_psn_in_order: assert property (@(posedge clk_i) disable iff (!rst_ni)
      departed_ready_o && write && !departed_i.copy |-> departed_i.psn == stored.next)
  else $error("PSN sent out of order");

  assert_start_reliable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      start_ready_o |-> stored.reliable && peer.local_qpn == start_i.qpn)
  else $error("a message started on a QP that is not an active RC QP");

  assert_failure_has_message: assert property (@(posedge clk_i) disable iff (!rst_ni)
      failed_o |-> context_q.count != '0)
  else $error("a QP failed without a message to blame");

endmodule

`default_nettype wire
