// SPDX-License-Identifier: BSD-2-Clause
//
// Completions out of the DUT, handed to C unread. Stops taking while the host
// is behind, until the next wake: no completion is lost.

`default_nettype none

module roceproof_completion_sink
  import roceproof_bridge_pkg::*;
#(
  parameter int Index = 0
) (
  input  wire logic         clk_i,
  input  wire logic         rst_ni,
  input  wire logic [63:0]  seed_i,
  input  wire cycle_t       cycle_i,
  input  wire logic         wake_i,
  input  wire logic [7:0]   stall_i,  // percent
  output logic              poll_o,
  input  wire logic         valid_i,
  input  wire logic [127:0] record_i,
  output logic              ready_o
);

  logic        full_q;

  logic open;
  assign ready_o = open && !full_q;

  roceproof_gate #(
    .Stream(StreamCompletion)
  ) u_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(stall_i),
    .draw_i   (1'b1),
    .open_o   (open)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      poll_o <= 1'b0;
    end else begin
      poll_o <= 1'b0;
      if (wake_i) full_q <= 1'b0;
      if (valid_i && ready_o) begin
        automatic put_answer_t answer;
        answer = roceproof_put_completion(port[Index], cycle_i, record_i);
        full_q <= answer.full;
        poll_o <= answer.poll;
      end
    end
  end

endmodule

`default_nettype wire
