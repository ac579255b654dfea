// SPDX-License-Identifier: BSD-2-Clause
//
// What congestion leaves of the rate of each QP: the reaction point of DCQCN, its
// rates as parts of the line's. A notification (CNP) counts if it comes from the
// peer of an active QP on RC or UC and names the QP's whole number. It makes
//
//   R_T = R_C,  R_C = R_C * (1 - alpha / 2),  alpha = (1 - g) * alpha + g
//
// and a period without one alpha = (1 - g) * alpha, R_C = (R_T + R_C) / 2, from the
// F+1st on behind R_T = R_T + R_AI. The period of alpha and that of the increase
// are the same, as DCQCN's authors have them. There is no byte counter, and so no
// hyper increase, which needs it and the timer.
//
// The QPs have turns, one in each cycle; what is notified between two turns of one
// counts once. A configuration starts afresh: alpha is 1 and the rate the line's.

`default_nettype none

module reaction_point
  import roceproof_dut_pkg::*;
  import roce_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned Qps          = 16,
  parameter int unsigned Ipv6         = 0,
  parameter int unsigned PeriodCycles = 1,
  parameter int unsigned Slowest      = 64,  // of so many parts of the line's rate one is left
  parameter int unsigned GBits        = 8,   // g is 2^-GBits
  parameter int unsigned FastSteps    = 5,   // F
  parameter int unsigned Additive     = 64,  // R_AI, in such parts
  parameter int unsigned IndexBits    = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 configure_i,
  input  wire qp_config_t           config_i,
  input  wire logic                 notice_valid_i,
  input  wire notice_t              notice_i,
  output logic      [Qps-1:0]       slowed_o,
  output logic      [IndexBits-1:0] next_index_o,  // whose turn is in the next cycle
  output logic      [IndexBits-1:0] index_o,       // and now
  output rate_t                     rate_o         // of it
);

  localparam int unsigned Turns    = PeriodCycles > Qps ? PeriodCycles / Qps : 1;
  localparam int unsigned TurnBits = $clog2(Turns + 1);

  typedef struct packed {
    logic [31:0]  local_qpn;
    logic [127:0] remote_gid;
  } peer_t;

  typedef struct packed {
    rate_t               current;  // R_C
    rate_t               target;   // R_T
    logic [15:0]         alpha;    // all ones: 1
    logic [2:0]          steps;    // since the last notification, up to F
    logic [TurnBits-1:0] turns;    // of this period
  } record_t;

  localparam record_t Afresh = '{current: LineRate, target: LineRate, alpha: '1, default: '0};

  // By QP.
  logic [Qps-1:0] active_q;
  logic [Qps-1:0] notified_q;
  logic [Qps-1:0] touched_q;  // it was notified in this life: its record counts

  // Who is notified.
  logic                 looked_q, notifies;
  logic [31:0]          named_q;
  logic [127:0]         source_q;
  peer_t                peer;
  logic [IndexBits-1:0] configured, sought, notified;

  assign configured = config_i.local_qpn[IndexBits-1:0];
  assign sought     = notice_i.dest_qpn[IndexBits-1:0];
  assign notified   = named_q[IndexBits-1:0];
  assign notifies   = looked_q && active_q[notified] && peer == {named_q, source_q};

  always_ff @(posedge clk_i) begin
    looked_q <= rst_ni && notice_valid_i && !(configure_i && configured == sought);
    named_q  <= 32'(notice_i.dest_qpn);
    source_q <= notice_i.src_gid;
  end

  ram_1r1w #(
    .Width($bits(peer_t)),
    .Words(Qps)
  ) u_peers (
    .clk_i,
    .write_i      (configure_i),
    .write_index_i(configured),
    .write_data_i ({config_i.local_qpn, kept_gid(config_i.remote_gid, Ipv6)}),
    .read_i       (notice_valid_i),
    .read_index_i (sought),
    .read_data_o  (peer)
  );

  // A turn: its record is read, the cut that a notification would make is known, the record is
  // written.
  logic [IndexBits-1:0] scan_q;
  record_t              stored, found, record_q, written;
  rate_t                cut_q;
  logic                 cuts, is_over, raises;
  logic [RateBits+7:0]  product;

  assign found   = touched_q[next_index_o] ? stored : Afresh;
  assign product = (RateBits + 8)'(found.current) * (RateBits + 8)'(found.alpha[15:8]);
  assign cuts    = notified_q[index_o];
  assign is_over = record_q.turns == TurnBits'(Turns - 1);
  assign raises  = is_over && record_q.steps == 3'(FastSteps);
  assign rate_o  = record_q.current;

  always_comb begin
    written       = record_q;
    written.turns = record_q.turns + 1'b1;
    if (cuts) begin
      written.target  = record_q.current;
      written.current = record_q.current - cut_q;
      if (written.current < LineRate / rate_t'(Slowest)) begin
        written.current = LineRate / rate_t'(Slowest);
      end
      written.alpha   = record_q.alpha + (~record_q.alpha >> GBits);
      written.steps   = '0;
      written.turns   = '0;
    end else if (is_over) begin
      if (raises) begin
        written.target = record_q.target + LineRate / rate_t'(Additive);
        if (written.target > LineRate) written.target = LineRate;
      end else begin
        written.steps = record_q.steps + 1'b1;
      end
      written.current = rate_t'(((RateBits + 1)'(record_q.current)
                                 + (RateBits + 1)'(written.target) + 1'b1) >> 1);
      written.alpha   = record_q.alpha - (record_q.alpha >> GBits);
      written.turns   = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    scan_q       <= scan_q + 1'b1;
    next_index_o <= scan_q;
    index_o      <= next_index_o;
    record_q     <= found;
    cut_q        <= rate_t'(product >> 9);

    notified_q[index_o] <= 1'b0;
    slowed_o[index_o]   <= (touched_q[index_o] || cuts) && written.current != LineRate;
    if (cuts) touched_q[index_o] <= 1'b1;
    if (notifies) notified_q[notified] <= 1'b1;
    if (configure_i) begin
      active_q[configured]   <= config_i.command == QpActivate
          && config_i.service inside {ServiceRc, ServiceUc};
      notified_q[configured] <= 1'b0;
      touched_q[configured]  <= 1'b0;
      slowed_o[configured]   <= 1'b0;
    end

    if (!rst_ni) begin
      scan_q       <= '0;
      next_index_o <= '0;
      index_o      <= '0;
      active_q     <= '0;
      notified_q   <= '0;
      touched_q    <= '0;
      slowed_o     <= '0;
    end
  end

  ram_1r1w #(
    .Width  ($bits(record_t)),
    .Words  (Qps),
    .Forward(1)
  ) u_records (
    .clk_i,
    .write_i      (1'b1),
    .write_index_i(index_o),
    .write_data_i (written),
    .read_i       (1'b1),
    .read_index_i (scan_q),
    .read_data_o  (stored)
  );

endmodule

`default_nettype wire
