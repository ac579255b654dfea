// SPDX-License-Identifier: BSD-2-Clause
//
// Completions of one RC queue pair for a core that sends and leaves it to
// software to hear the answers. It is told of each message when its first
// packet leaves, and of each ACKNOWLEDGE to the queue pair whose ICRC is
// right. Messages complete in order: when acknowledged, with the error of the
// NAK that names a packet of theirs, or flushed behind one that failed. What
// acknowledges nothing that was sent, or something a second time, changes
// nothing. It repeats nothing and has no timer: a loss shows as a completion
// that never comes, and the manifest says ack_timeout = 0 under [fixed].

`default_nettype none

module rc_completion_tracker
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned Depth = 64
) (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,

  // The queue pair (re)starts here; what was outstanding is flushed first.
  input  wire logic        start_valid_i,
  output logic             start_ready_o,
  input  wire logic [31:0] start_qpn_i,
  input  wire logic [23:0] start_psn_i,

  input  wire logic        sent_valid_i,
  output logic             sent_ready_o,
  input  wire logic [63:0] sent_wr_id_i,
  input  wire logic [23:0] sent_last_psn_i,  // of the message's last packet

  input  wire logic        response_valid_i,
  output logic             response_ready_o,
  input  wire logic [23:0] response_psn_i,
  input  wire logic [7:0]  response_syndrome_i,

  output logic             failed_o,  // the core sends nothing more for this queue pair
  output logic             cpl_valid_o,
  input  wire logic        cpl_ready_i,
  output completion_t      cpl_o
);

  localparam int unsigned IndexBits = $clog2(Depth);

  if (Depth < 2 || Depth != 2 ** IndexBits) begin : gen_unsupported
    $error("Depth is a power of two");
  end

  localparam logic [2:0] Ack = 3'b000, RnrNak = 3'b001, Nak = 3'b011;  // of the syndrome, bits 7:5

  typedef logic [IndexBits-1:0] index_t;

  typedef struct packed {
    logic [63:0] wr_id;
    logic [23:0] last_psn;
  } message_t;

  message_t           messages_q [Depth];
  index_t             head_q;
  logic [IndexBits:0] count_q;
  message_t           head;

  logic [31:0] qpn_q;
  logic [23:0] oldest_psn_q;  // not acknowledged yet
  logic [23:0] newest_psn_q;  // the last of the newest message

  logic        hearing_q;     // a response whose messages complete one by one
  logic [23:0] psn_q;
  logic [7:0]  syndrome_q;

  logic    is_ack, is_error;
  logic    awaited;   // the response names a packet that is outstanding
  logic    covered;   // the oldest message is acknowledged by it
  logic    flush;
  status_e error;
  logic    take;

  // Whether PSN a is b or later, within half the circle.
  function automatic logic reaches(logic [23:0] a, logic [23:0] b);
    return 24'(a - b) < 24'h80_0000;
  endfunction

  assign head     = messages_q[head_q];
  assign is_ack   = syndrome_q[7:5] == Ack;
  assign awaited  = (is_ack || is_error)
                 && reaches(psn_q, oldest_psn_q) && reaches(newest_psn_q, psn_q);
  assign covered  = reaches(is_ack ? psn_q : psn_q - 24'd1, head.last_psn);
  assign flush    = failed_o || start_valid_i;

  always_comb begin
    is_error = 1'b1;
    error    = StatusRnrRetryExc;
    if (syndrome_q[7:5] == Nak) begin
      unique case (syndrome_q[4:0])
        5'd0:    error = StatusRetryExcErr;
        5'd1:    error = StatusRemInvReqErr;
        5'd2:    error = StatusRemAccessErr;
        5'd3:    error = StatusRemOpErr;
        default: is_error = 1'b0;
      endcase
    end else if (syndrome_q[7:5] != RnrNak) begin
      is_error = 1'b0;
    end
  end

  assign cpl_valid_o = count_q != '0 && (flush || (hearing_q && awaited && (covered || !is_ack)));
  always_comb begin
    cpl_o = '{
      wr_id: head.wr_id, qpn: qpn_q, status: StatusSuccess, syndrome: syndrome_q, reserved0: '0
    };
    if (flush) begin
      cpl_o.status   = StatusWrFlushErr;
      cpl_o.syndrome = 8'hFF;
    end else if (!covered) begin
      cpl_o.status = error;
    end
  end

  assign take             = cpl_valid_o && cpl_ready_i;
  assign start_ready_o    = count_q == '0;
  assign sent_ready_o     = !count_q[IndexBits] && !start_valid_i;
  assign response_ready_o = !hearing_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q   <= '0;
      head_q    <= '0;
      hearing_q <= 1'b0;
      failed_o  <= 1'b0;
    end else begin
      if (response_valid_i && response_ready_o) begin
        hearing_q  <= 1'b1;
        psn_q      <= response_psn_i;
        syndrome_q <= response_syndrome_i;
      end
      if (hearing_q && !cpl_valid_o) begin
        hearing_q <= 1'b0;
        if (awaited && is_ack && count_q != '0) oldest_psn_q <= psn_q + 24'd1;
      end
      if (take) begin
        head_q <= head_q + 1'b1;
        if (!flush && covered) oldest_psn_q <= head.last_psn + 24'd1;
        if (!flush && !covered) begin
          failed_o  <= 1'b1;
          hearing_q <= 1'b0;
        end
      end
      if (sent_valid_i && sent_ready_o) begin
        messages_q[head_q + count_q[IndexBits-1:0]] <= '{
          wr_id: sent_wr_id_i, last_psn: sent_last_psn_i
        };
        newest_psn_q <= sent_last_psn_i;
      end
      count_q <= count_q + (IndexBits+1)'(sent_valid_i && sent_ready_o) - (IndexBits+1)'(take);
      if (start_valid_i && start_ready_o) begin
        qpn_q        <= start_qpn_i;
        oldest_psn_q <= start_psn_i;
        newest_psn_q <= start_psn_i - 24'd1;
        failed_o     <= 1'b0;
        hearing_q    <= 1'b0;
      end
    end
  end

  assert_order: assert property (@(posedge clk_i) disable iff (!rst_ni)
      sent_valid_i && sent_ready_o |-> sent_last_psn_i != newest_psn_q
          && reaches(sent_last_psn_i, newest_psn_q))
  else $error("a message ends at or before the one sent before it");

endmodule

`default_nettype wire
