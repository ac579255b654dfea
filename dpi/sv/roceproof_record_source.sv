// SPDX-License-Identifier: BSD-2-Clause
//
// A record stream into the DUT (QP configurations or work requests), pulled
// from C one record at a time. Never looks inside a record.

`default_nettype none

module roceproof_record_source
  import roceproof_bridge_pkg::*;
#(
  parameter int          Index  = 0,
  parameter int          Stream = StreamQpc,
  parameter int unsigned Width  = 512
) (
  input  wire logic         clk_i,
  input  wire logic         rst_ni,
  input  wire logic [63:0]  seed_i,
  input  wire cycle_t       cycle_i,
  input  wire logic         wake_i,
  input  wire logic [7:0]   gap_i,      // percent
  output logic              fetched_o,  // C was asked: a record before it is with the DUT
  output logic              valid_o,
  output logic [Width-1:0]  record_o,
  input  wire logic         ready_i
);

  logic        loaded_q, awake_q;

  logic open;
  logic fetch;
  assign valid_o = loaded_q && open;
  assign fetch   = awake_q && (!loaded_q || (valid_o && ready_i));

  roceproof_gate #(
    .Stream(Stream)
  ) u_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(gap_i),
    .draw_i   (!valid_o || ready_i),
    .open_o   (open)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      loaded_q  <= 1'b0;
      awake_q   <= 1'b0;
      fetched_o <= 1'b0;
    end else begin
      fetched_o <= fetch;
      if (wake_i) awake_q <= 1'b1;
      if (fetch) begin
        automatic bit [511:0] data;
        automatic int         got;
        got = roceproof_get_record(port[Index], Stream, cycle_i, data);
        loaded_q <= got != 0;
        awake_q  <= got != 0;
        record_o <= data[Width-1:0];
      end
    end
  end

endmodule

`default_nettype wire
