// SPDX-License-Identifier: BSD-2-Clause
//
// A stream whose offers wait: each for as many cycles as are drawn, at most
// what the command line says behind the stream's name; with `each`, only the
// first beat of a frame waits so long, the others for at most so many.

`default_nettype none

module twin_wait
  import twin_pkg::*;
#(
  parameter string Name = "",
  parameter int    Salt = 0
) (
  input  wire logic clk_i,
  input  wire logic rst_ni,
  input  wire logic valid_i,
  input  wire logic last_i,   // 1 where offers are records
  output logic      ready_o,
  output logic      valid_o,
  input  wire logic ready_i
);

  int unsigned most_first, most_beat;
  logic [31:0] dice_q, left_q;

  initial begin
    most_first = habit({Name, "_wait"});
    most_beat  = habit({Name, "_beat"});
  end

  assign valid_o = valid_i && left_q == 0;
  assign ready_o = ready_i && left_q == 0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      dice_q <= seeded(Salt);
      left_q <= most_first;
    end else if (valid_o && ready_i) begin
      dice_q <= stirred(dice_q);
      left_q <= dice_q % ((last_i ? most_first : most_beat) + 1);
    end else if (valid_i && left_q != 0) begin
      left_q <= left_q - 1;
    end
  end

endmodule

`default_nettype wire
