// SPDX-License-Identifier: BSD-2-Clause
//
// The latest READs and atomics of every queue pair, as many as limit_i says, so
// that one that comes again can be told from one that asks for something new. A
// recall looks through those of its queue pair, one in a cycle; when recalled_o
// rises known_o says whether one of them, kept_o, asked for all that this one
// does: the same operation and key, bytes and PSNs inside its own. Whoever uses
// this does one thing at a time.

`default_nettype none

module read_history
  import responder_pkg::*;
#(
  parameter int unsigned Qps = 16,
  localparam int unsigned IndexBits = $clog2(Qps),
  localparam int unsigned PlaceBits = $clog2(MaxReads)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic [IndexBits-1:0] index_i,   // the queue pair that is meant
  input  wire logic [4:0]           limit_i,   // of it
  input  wire kept_t           read_i,    // to be kept, or looked for
  input  wire logic                 keep_i,
  input  wire logic                 clear_i,
  input  wire logic                 recall_i,
  output      logic                 recalled_o,
  output      logic                 known_o,
  output      kept_t                kept_o
);

  typedef logic [PlaceBits-1:0] place_t;

  place_t     next_q [Qps];
  logic [4:0] count_q[Qps];

  logic       busy_q, looks_q, looks;
  place_t     place_q;
  logic [4:0] left_q;
  kept_t kept;

  assign looks      = left_q != '0;
  assign recalled_o = busy_q && !looks && !looks_q;

  ram_1r1w #(
    .Width($bits(kept_t)),
    .Words(Qps * MaxReads)
  ) u_reads (
    .clk_i,
    .write_i      (keep_i),
    .write_index_i({index_i, next_q[index_i]}),
    .write_data_i (read_i),
    .read_i       (looks),
    .read_index_i ({index_i, place_q}),
    .read_data_o  (kept)
  );

  logic [23:0] skipped;
  logic        covers;
  assign skipped = read_i.psn - kept.psn;
  assign covers  = read_i.opcode == kept.opcode
      && !skipped[23] && 25'(skipped) + read_i.packets <= kept.packets
      && read_i.rkey == kept.rkey && read_i.address >= kept.address
      && 65'(read_i.address) + 65'(read_i.length) <= 65'(kept.address) + 65'(kept.length);

  always_ff @(posedge clk_i) begin
    looks_q <= looks;
    if (looks) begin
      place_q <= place_q - 1'b1;
      left_q  <= left_q - 1'b1;
    end
    if (looks_q && covers) begin
      known_o <= 1'b1;
      kept_o  <= kept;
    end
    if (recalled_o) busy_q <= 1'b0;
    if (recall_i) begin
      busy_q  <= 1'b1;
      known_o <= 1'b0;
      place_q <= next_q[index_i] - 1'b1;
      left_q  <= count_q[index_i];
    end
    if (keep_i) begin
      next_q[index_i] <= next_q[index_i] + 1'b1;
      if (count_q[index_i] < limit_i) count_q[index_i] <= count_q[index_i] + 1'b1;
    end
    if (clear_i) count_q[index_i] <= '0;

    if (!rst_ni) begin
      busy_q  <= 1'b0;
      looks_q <= 1'b0;
      left_q  <= '0;
      for (int unsigned i = 0; i < Qps; i++) begin
        next_q[i]  <= '0;
        count_q[i] <= '0;
      end
    end
  end

  one_at_a_time: assert property (@(posedge clk_i) disable iff (!rst_ni)
      $onehot0({keep_i, clear_i, recall_i, busy_q && !recalled_o}));

endmodule

`default_nettype wire
