// SPDX-License-Identifier: BSD-2-Clause
//
// Whether credits let the message that is being sent go on (send_credits.sv).
// One that is not admitted is limited: each of its packets waits until nothing of
// its QP is outstanding, and asks for an acknowledgement. What has begun with a
// credit ends with it. Follows what the ACK tracker writes about this QP; the
// grant of a message's place is the first.

`default_nettype none

module credit_gate #(
  parameter int unsigned Qps       = 16,
  parameter int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 valid_i,
  input  wire logic [IndexBits-1:0] valid_index_i,
  input  wire logic [23:0]          oldest_i,       // place of what is not acknowledged
  input  wire logic                 admits_i,       // the newest message
  input  wire logic [IndexBits-1:0] index_i,        // of the QP that sends
  input  wire logic [23:0]          place_i,        // of the packet
  input  wire logic                 needs_i,        // its message needs a receive
  input  wire logic                 first_i,        // it is the first
  input  wire logic                 sent_i,
  output logic                      open_o,
  output logic                      limited_o
);

  logic [23:0] oldest_q;
  logic        admits_q;
  logic        begun_q;   // with a credit
  logic        admitted;

  assign admitted  = admits_q || (begun_q && !first_i);
  assign limited_o = needs_i && !admitted;
  assign open_o    = !limited_o || place_i == oldest_q;

  always_ff @(posedge clk_i) begin
    if (valid_i && valid_index_i == index_i) begin
      oldest_q <= oldest_i;
      admits_q <= admits_i;
    end
    if (sent_i) begun_q <= admitted;
  end

endmodule

`default_nettype wire
