// SPDX-License-Identifier: BSD-2-Clause
//
// What each RC QP sends again, and how often it may: the half of go-back-N
// that keeps count. It goes along with every operation of the ACK tracker, of
// whose QP it holds a record of its own:
//
//   sequence NAK  again from its PSN, once until there is progress or a timeout
//   RNR NAK       nothing for as long as its code says, then again from its PSN
//   timeout       again from the oldest PSN that is not acknowledged
//   progress      restores the counts of retries
//   replay        asks for the copy that is next, or ends the repetition; of a READ,
//                 for what of it is not answered
//
// A QP is held, sends nothing new, from the NAK or timeout until its last copy
// is under way, and when it fails. QPs that repeat take turns, one copy each, or none where its
// rate holds it back, in a queue in which a QP is at most once. A copy counts (copies_o) until its frame has left.

`default_nettype none

module recovery
  import roceproof_dut_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned Qps       = 16,
  parameter int unsigned Reads     = 0,   // 1: a packet may use many PSNs
  parameter int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic [31:0]          now_i,            // in 4.096 us
  // The tracker's operation: its QP, then what it is. One cycle each.
  input  wire logic                 select_i,
  input  wire logic [IndexBits-1:0] select_index_i,
  input  wire logic                 measure_i,        // where READs are sent, before a repetition
  input  wire logic                 clear_i,          // after reset, each in turn
  input  wire logic                 execute_i,
  input  wire ack_op_e              op_i,
  input  wire logic [IndexBits-1:0] index_i,
  input  wire qp_config_t           config_i,
  input  wire logic                 configure_i,      // takes effect
  input  wire logic                 configure_ready_i,
  input  wire logic                 configured_i,     // has taken effect: nothing is issued now
  input  wire logic [23:0]          oldest_i,
  input  wire logic                 relevant_i,       // response_i is to be heeded
  input  wire roce_pkg::response_t  response_i,
  input  wire logic                 ack_i,
  input  wire logic [23:0]          answered_i,       // as fault_t has it
  input  wire logic [23:0]          ended_i,
  input  wire logic                 expired_i,
  output logic                      repeats_o,        // instead of failing
  output logic                      rests_o,          // no ACK timer until a copy has left
  output logic                      held_o,
  input  wire logic                 paced_i,          // its rate lets a copy leave
  output logic [23:0]               lead_o,           // of the oldest PSN over its place
  // A packet that was never sent before has been issued.
  input  wire logic                 issued_i,
  input  wire logic [IndexBits-1:0] issued_index_i,
  input  wire slot_t                issued_slot_i,
  input  wire logic [23:0]          issued_more_i,    // PSNs than one
  input  wire logic [23:0]          issued_psn_i,     // the last that it uses
  // Who repeats next, the copy that it needs, and when one has left.
  output logic                      replay_valid_o,
  input  wire logic                 replay_ready_i,
  output logic [IndexBits-1:0]      replay_index_o,
  output logic                      copy_o,
  output copy_t                     copied_o,         // but for its generation
  input  wire logic                 copy_left_i,
  output logic                      copies_o
);

  localparam logic [2:0] WithoutEnd = 3'd7;

  typedef struct packed {
    logic        queued;       // waits for its turn to repeat
    logic        replaying;
    logic        waiting;      // as an RNR NAK has told
    logic        told;         // by one since the last progress
    logic        restarted;    // for a NAK since the last progress or timeout
    logic [2:0]  retry_count;  // as configured, and what is left
    logic [2:0]  rnr_retry;
    logic [2:0]  retries;
    logic [2:0]  rnr_retries;
    logic [4:0]  code;         // of the wait, which began
    logic [31:0] since;
    logic [23:0] again;        // the next copy
    logic [23:0] again_lead;   // of its PSN over its place
    logic [23:0] lead;         // of the oldest message
    logic [23:0] answered;     // PSNs of it, a READ
  } recovery_t;

  recovery_t   stored, granted, written;
  logic [23:0] fresh;          // first PSN that was never issued
  logic [23:0] copy_psn;
  logic [23:0] copy_lead;
  logic [23:0] more_psns;      // than one, of the copy
  logic        sequence_nak, rnr_nak;
  logic        wait_over;
  logic        progress;
  logic        goes_back;      // for a sequence NAK
  logic        ends;           // the QP fails
  logic        more;
  logic        enqueue;
  logic [7:0]  copies_q;

  // Table 45 in steps of 10 us: 1, 2, 3, 4, 6, 8, 12 and so on, twice as much every two codes.
  function automatic logic [31:0] rnr_steps(logic [4:0] code);
    logic [3:0] doublings;
    doublings = code[4:1] - 4'd1;
    return code == 5'd1 ? 32'd1 : 32'({1'b1, code[0]}) << doublings;
  endfunction

  assign sequence_nak = response_i.syndrome == 8'h60;
  assign rnr_nak      = response_i.syndrome[7:5] == 3'b001;
  assign progress     = op_i == OpResponse && relevant_i && (ack_i || response_i.psn != oldest_i);

  // Ten microseconds are less than 2.5 counts, and the first count is not whole.
  assign wait_over = now_i - stored.since
                     > 2 * rnr_steps(stored.code) + (rnr_steps(stored.code) + 32'd1) / 2;

  // The counts as progress leaves them.
  always_comb begin
    granted = stored;
    if (progress) begin
      granted.retries     = stored.retry_count;
      granted.rnr_retries = stored.rnr_retry;
      granted.restarted   = 1'b0;
      granted.told        = 1'b0;
    end
  end

  always_comb begin
    repeats_o = 1'b0;
    if (op_i == OpScan) repeats_o = granted.retries != '0;
    else if (sequence_nak) begin
      repeats_o = granted.waiting || granted.restarted || granted.retries != '0;
    end else if (rnr_nak) begin
      repeats_o = (granted.waiting && granted.told) || granted.rnr_retries != '0;
    end
  end

  // An acknowledgement may have overtaken the copies.
  assign copy_psn = stored.again - oldest_i < 24'h80_0000 ? stored.again : oldest_i;
  always_comb begin
    copy_lead           = copy_psn == oldest_i ? stored.lead : stored.again_lead;
    copied_o            = '0;
    copied_o.psn        = copy_psn;
    copied_o.answered   = copy_psn == oldest_i ? stored.answered : '0;
    copied_o.place      = copy_psn - copied_o.answered - copy_lead;
    copied_o.last_psn   = copy_psn - copied_o.answered + more_psns;
  end

  assign more     = stored.replaying && copy_psn != fresh;

  always_comb begin
    written   = granted;
    goes_back = 1'b0;
    ends      = 1'b0;
    if (op_i == OpResponse && relevant_i) begin
      written.answered = answered_i;
      written.lead     = stored.lead + ended_i;
    end
    case (op_i)
      OpConfigure: begin
        ends = !configure_ready_i;
        if (configure_i) begin
          written.replaying   = 1'b0;
          written.waiting     = 1'b0;
          written.told        = 1'b0;
          written.restarted   = 1'b0;
          written.answered    = '0;
          written.lead        = '0;
          written.retry_count = config_i.retry_count[2:0];
          written.rnr_retry   = config_i.rnr_retry[2:0];
          written.retries     = config_i.retry_count[2:0];
          written.rnr_retries = config_i.rnr_retry[2:0];
        end
      end

      OpResponse: if (relevant_i && !ack_i) begin
        ends = !repeats_o;
        if (sequence_nak && !granted.waiting && !granted.restarted) begin
          goes_back         = 1'b1;
          written.replaying = 1'b1;
          written.restarted = 1'b1;
          written.retries   = granted.retries - 1'b1;
          written.again     = response_i.psn;
        end else if (rnr_nak && !(granted.waiting && granted.told)) begin
          written.replaying   = 1'b0;
          written.waiting     = 1'b1;
          written.told        = 1'b1;
          written.restarted   = 1'b0;
          written.rnr_retries = granted.rnr_retries - 3'(stored.rnr_retry != WithoutEnd);
          written.code        = response_i.syndrome[4:0];
          written.since       = now_i;
        end
      end

      OpScan: begin
        if (stored.waiting && wait_over) begin
          written.waiting   = 1'b0;
          written.replaying = 1'b1;
          written.again     = oldest_i;
        end else if (expired_i) begin
          ends              = !repeats_o;
          written.replaying = 1'b1;
          written.restarted = 1'b0;
          written.retries   = granted.retries - 3'(repeats_o);
          written.again     = oldest_i;
        end
      end

      OpReplay: begin
        written.replaying  = more;
        if (paced_i) begin
          written.again      = copied_o.last_psn + 24'd1;
          written.again_lead = copy_lead + more_psns;
        end
      end

      default: ;
    endcase

    if (ends) begin
      written.replaying = 1'b0;
      written.waiting   = 1'b0;
    end
    written.queued = op_i == OpReplay ? more : stored.queued || written.replaying;
    enqueue        = written.queued && (op_i == OpReplay || !stored.queued);
    if (clear_i) written = '0;
  end

  assign rests_o    = written.waiting || goes_back;
  assign held_o     = written.waiting || written.replaying;
  assign copy_o     = execute_i && op_i == OpReplay && more && paced_i;
  assign lead_o     = written.lead + written.answered;
  assign copies_o   = copies_q != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) copies_q <= '0;
    else copies_q <= copies_q + 8'(copy_o) - 8'(copy_left_i);
  end

  ram_1r1w #(
    .Width($bits(recovery_t)),
    .Words(Qps)
  ) u_records (
    .clk_i,
    .write_i      (clear_i || execute_i),
    .write_index_i(index_i),
    .write_data_i (written),
    .read_i       (select_i),
    .read_index_i (select_index_i),
    .read_data_o  (stored)
  );

  ram_1r1w #(
    .Width(24),
    .Words(Qps)
  ) u_fresh (
    .clk_i,
    .write_i      (configured_i || issued_i),
    .write_index_i(configured_i ? index_i : issued_index_i),
    .write_data_i (configured_i ? config_i.sq_psn[23:0] : issued_psn_i + 24'd1),
    .read_i       (select_i),
    .read_index_i (select_index_i),
    .read_data_o  (fresh)
  );

  if (Reads != 0) begin : gen_reads
    ram_1r1w #(
      .Width(24),
      .Words(Qps * ReplayPackets)
    ) u_more_psns (
      .clk_i,
      .write_i      (issued_i),
      .write_index_i({issued_index_i, issued_slot_i}),
      .write_data_i (issued_more_i),
      .read_i       (measure_i),
      .read_index_i ({index_i, slot_t'(copied_o.place)}),
      .read_data_o  (more_psns)
    );
  end else begin : gen_no_reads
    logic unused_reads;
    assign unused_reads = ^{measure_i, issued_slot_i, issued_more_i};
    assign more_psns    = '0;
  end

  assert_one_fresh: assert property (@(posedge clk_i) disable iff (!rst_ni)
      configured_i |-> !issued_i)
  else $error("a packet is issued in the cycle of a configuration");

  logic unused_room;

  stream_fifo #(
    .Width(IndexBits),
    .Depth(Qps)
  ) u_turns (
    .clk_i,
    .rst_ni,
    .s_data_i (index_i),
    .s_valid_i(execute_i && enqueue),
    .s_ready_o(unused_room),
    .m_data_o (replay_index_o),
    .m_valid_o(replay_valid_o),
    .m_ready_i(replay_ready_i)
  );

endmodule

`default_nettype wire
