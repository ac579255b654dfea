// SPDX-License-Identifier: BSD-2-Clause
//
// End-to-end credits: how far the messages of each QP that obeys them may go.
// Messages are counted from 1 on as they get their place (SSN). An AETH that
// acknowledges admits those that need a receive up to its MSN and its credits,
// or all with code 31; before the first none is admitted. A later one admits no
// fewer, but for one behind code 31. It goes along with every operation of the
// ACK tracker, as recovery.sv does, and says of its QP whether the newest
// message is admitted.

`default_nettype none

module send_credits
  import roce_tx_pkg::*;
#(
  parameter int unsigned Qps       = 16,
  parameter int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  // The tracker's operation: its QP, then what it is. One cycle each.
  input  wire logic                 select_i,
  input  wire logic [IndexBits-1:0] select_index_i,
  input  wire logic                 execute_i,
  input  wire logic [IndexBits-1:0] index_i,
  input  wire logic                 configure_i,  // takes effect
  input  wire logic                 obeys_i,      // as configured
  input  wire logic                 start_i,      // a message gets its place
  input  wire logic                 acks_i,       // an AETH that acknowledges, from the QP's peer
  input  wire logic                 relevant_i,   // for what has left and is not acknowledged
  input  wire logic                 again_i,      // for what was acknowledged last
  input  wire logic                 moves_i,      // more is acknowledged now
  input  wire logic [4:0]           code_i,
  input  wire logic [23:0]          msn_i,
  output logic                      admits_o
);

  localparam logic [4:0] Unlimited = 5'd31;

  typedef struct packed {
    logic        obeys;
    logic        moved;      // in this life something was acknowledged
    logic        unlimited;
    logic [23:0] limit;      // last message that is admitted
    logic [23:0] newest;     // that has its place
  } credit_t;

  credit_t     stored, written;
  logic        believed;
  logic [23:0] limit;

  // 1, 2, 3, 4, 6, 8, 12 and so on, twice as much every two codes.
  function automatic logic [23:0] credits(logic [4:0] code);
    logic [3:0] doublings;
    doublings = code[4:1] - 4'd1;
    return code[4:1] == '0 ? 24'(code[0]) : 24'({1'b1, code[0]}) << doublings;
  endfunction

  // An ACK that repeats the last one was asked for in this life, or it is of a former one.
  assign believed = acks_i && (relevant_i || (again_i && stored.moved));
  assign limit    = msn_i + credits(code_i);

  always_comb begin
    written = stored;
    if (moves_i) written.moved = 1'b1;
    if (start_i) written.newest = stored.newest + 24'd1;
    if (believed) begin
      written.unlimited = code_i == Unlimited;
      if (!written.unlimited && (stored.unlimited || !precedes(limit, stored.limit))) begin
        written.limit = limit;
      end
    end
    if (configure_i) begin
      written       = '0;
      written.obeys = obeys_i;
    end
  end

  assign admits_o = !written.obeys || written.unlimited || !precedes(written.limit, written.newest);

  ram_1r1w #(
    .Width($bits(credit_t)),
    .Words(Qps)
  ) u_records (
    .clk_i,
    .write_i      (execute_i),
    .write_index_i(index_i),
    .write_data_i (written),
    .read_i       (select_i),
    .read_index_i (select_index_i),
    .read_data_o  (stored)
  );

endmodule

`default_nettype wire
