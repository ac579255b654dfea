// SPDX-License-Identifier: BSD-2-Clause
//
// Chooses the ACK tracker's next operation. Departures go first. While a failed
// QP waits for its flush (fencing_i), only responses that fail no other
// (response_fails_i) are taken until the flush is possible (flush_i): a stalled
// transmitter must not stop acknowledgements. Then comes configuration;
// responses, timer scan, message starts and repetitions take turns.

`default_nettype none

module ack_arbiter
  import roce_tx_pkg::*;
(
  input  wire logic clk_i,
  input  wire logic rst_ni,
  input  wire logic departed_i,
  input  wire logic fencing_i,
  input  wire logic flush_i,
  input  wire logic configure_i,
  input  wire logic response_i,
  input  wire logic response_fails_i,
  input  wire logic scan_i,
  input  wire logic start_i,
  input  wire logic replay_i,
  output logic      valid_o,
  input  wire logic ready_i,
  output ack_op_e   op_o
);

  ack_op_e shared;
  ack_op_e turn_q;  // goes first when it asks

  always_comb begin
    case (turn_q)
      OpResponse: shared = response_i ? OpResponse : scan_i ? OpScan : start_i ? OpStart : OpReplay;
      OpScan:     shared = scan_i ? OpScan : start_i ? OpStart : replay_i ? OpReplay : OpResponse;
      OpStart:    shared = start_i ? OpStart : replay_i ? OpReplay : response_i ? OpResponse : OpScan;
      default:    shared = replay_i ? OpReplay : response_i ? OpResponse : scan_i ? OpScan : OpStart;
    endcase

    valid_o = 1'b1;
    op_o    = shared;
    if (departed_i) op_o = OpDeparted;
    else if (fencing_i) begin
      op_o    = flush_i ? OpFlush : OpResponse;
      valid_o = flush_i || (response_i && !response_fails_i);
    end else if (configure_i) op_o = OpConfigure;
    else valid_o = response_i || scan_i || start_i || replay_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q <= OpResponse;
    end else if (valid_o && ready_i) begin
      case (op_o)
        OpResponse: turn_q <= OpScan;
        OpScan:     turn_q <= OpStart;
        OpStart:    turn_q <= OpReplay;
        OpReplay:   turn_q <= OpResponse;
        default: ;
      endcase
    end
  end

endmodule

`default_nettype wire
