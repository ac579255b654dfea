// SPDX-License-Identifier: BSD-2-Clause
//
// Counts what has moved on each stream of a port, so that of a device that
// stands still can be told what it waits for. Costs an addition for each beat.

`default_nettype none

module roceproof_stream_watch
  import roceproof_bridge_pkg::*;
(
  input  wire logic   clk_i,
  input  wire logic   rst_ni,
  input  wire cycle_t cycle_i,
  input  wire set_t   valid_i,
  input  wire set_t   ready_i,
  input  wire set_t   last_i,  // 1 where every beat is a whole
  output signals_t    signals_o,
  output cycle_t      beats_o[Streams],
  output cycle_t      moved_o[Streams]  // the cycle of the last of them
);

  set_t amid_q;

  assign signals_o = {amid_q, ready_i, valid_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      amid_q <= '0;  // what was counted before another reset is forgotten
      for (int stream = 0; stream < Streams; stream++) begin
        beats_o[stream] <= '0;
        moved_o[stream] <= '0;
      end
    end else begin
      for (int stream = 0; stream < Streams; stream++) begin
        if (valid_i[stream] && ready_i[stream]) begin
          beats_o[stream] <= beats_o[stream] + 1;
          moved_o[stream] <= cycle_i;
          amid_q[stream]  <= !last_i[stream];
        end
      end
    end
  end

endmodule

`default_nettype wire
