// SPDX-License-Identifier: BSD-2-Clause
//
// Records of 32 bytes out of the DUT, handed to C unread. Stops taking while the
// host is behind, until the next wake: none is lost.

`default_nettype none

module roceproof_record_sink
  import roceproof_bridge_pkg::*;
#(
  parameter int Index  = 0,
  parameter int Stream = StreamReceiveCompletion
) (
  input  wire logic         clk_i,
  input  wire logic         rst_ni,
  input  wire cycle_t       cycle_i,
  input  wire logic         wake_i,
  output logic              poll_o,
  input  wire logic         valid_i,
  input  wire logic [255:0] record_i,
  output logic              ready_o
);

  logic full_q;
  assign ready_o = !full_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      poll_o <= 1'b0;
    end else begin
      poll_o <= 1'b0;
      if (wake_i) full_q <= 1'b0;
      if (valid_i && ready_o) begin
        automatic put_answer_t answer;
        answer = roceproof_put_record(port[Index], Stream, cycle_i, record_i);
        full_q <= answer.full;
        poll_o <= answer.poll;
      end
    end
  end

endmodule

`default_nettype wire
