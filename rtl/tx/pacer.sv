// SPDX-License-Identifier: BSD-2-Clause
//
// Whether the next packet of a QP may leave yet: one that congestion has slowed
// (reaction_point.sv) sends no faster than its rate. What a packet takes of the
// line, in beats, is owed from when it leaves, and paid back at that rate; as long
// as anything is owed the QP is not open. So its packets leave evenly, and no time
// without packets is made up for.

`default_nettype none

module pacer
  import roce_tx_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Qps       = 16,
  parameter int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 configure_i,
  input  wire logic [IndexBits-1:0] configured_i,
  input  wire logic                 leaves_i,      // a packet, new or again
  input  wire logic [IndexBits-1:0] leaving_i,
  input  wire logic [13:0]          bytes_i,       // of its frame
  input  wire logic [Qps-1:0]       slowed_i,
  // Turns of the QPs, each QP one in Qps cycles.
  input  wire logic [IndexBits-1:0] next_index_i,
  input  wire logic [IndexBits-1:0] index_i,
  input  wire rate_t                rate_i,
  output logic      [Qps-1:0]       open_o
);

  localparam int unsigned LaneBits = $clog2(DataWidth / 8);
  localparam int unsigned BeatBits = 14 - LaneBits;

  typedef logic [BeatBits-1:0]              beats_t;
  typedef logic [BeatBits+RateBits-2:0]     debt_t;  // a beat is one at the rate of the line
  typedef logic [RateBits+IndexBits-1:0]    paid_t;

  // By QP.
  logic [Qps-1:0] charged_q;  // a packet has left, and is no part of the debt yet
  logic [Qps-1:0] owes_q;

  logic   charges, charged, seen_q;
  beats_t beats;
  debt_t  debt, owed;
  paid_t  paid;
  logic   remains;

  assign charges = leaves_i && slowed_i[leaving_i];
  assign charged = seen_q && charged_q[index_i];
  assign open_o  = ~(charged_q | owes_q);

  ram_1r1w #(
    .Width(BeatBits),
    .Words(Qps)
  ) u_charges (
    .clk_i,
    .write_i      (charges),
    .write_index_i(leaving_i),
    .write_data_i (beats_t'((bytes_i + 14'(DataWidth / 8 - 1)) >> LaneBits)),
    .read_i       (1'b1),
    .read_index_i (next_index_i),
    .read_data_o  (beats)
  );

  ram_1r1w #(
    .Width($bits(debt_t)),
    .Words(Qps)
  ) u_debts (
    .clk_i,
    .write_i      (1'b1),
    .write_index_i(index_i),
    .write_data_i (owed - debt_t'(paid)),
    .read_i       (1'b1),
    .read_index_i (next_index_i),
    .read_data_o  (debt)
  );

  assign paid    = paid_t'(rate_i) << IndexBits;
  assign owed    = (owes_q[index_i] ? debt : '0) + (charged ? {beats, (RateBits - 1)'(0)} : '0);
  assign remains = 64'(owed) > 64'(paid);

  always_ff @(posedge clk_i) begin
    seen_q <= charged_q[next_index_i];

    owes_q[index_i] <= remains;
    if (charged) charged_q[index_i] <= 1'b0;
    if (charges) charged_q[leaving_i] <= 1'b1;
    if (configure_i) begin
      charged_q[configured_i] <= 1'b0;
      owes_q[configured_i]    <= 1'b0;
    end

    if (!rst_ni) begin
      charged_q <= '0;
      owes_q    <= '0;
    end
  end

endmodule

`default_nettype wire
