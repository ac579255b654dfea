// SPDX-License-Identifier: BSD-2-Clause
//
// Time for acknowledgement timeouts: now_o counts 4.096 us, and scan_* asks in
// turn for a look at each QP, all of them within one count where the clock
// allows it.

`default_nettype none

module ack_timer #(
  parameter int unsigned ClockPs   = 6400,
  parameter int unsigned Qps       = 16,
  parameter int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic            clk_i,
  input  wire logic            rst_ni,
  output logic [31:0]          now_o,
  output logic                 scan_valid_o,
  input  wire logic            scan_ready_i,
  output logic [IndexBits-1:0] scan_index_o
);

  localparam int unsigned TickCycles = (4_096_000 + ClockPs - 1) / ClockPs;
  localparam int unsigned ScanCycles = TickCycles > Qps ? TickCycles / Qps : 1;

  if (ClockPs == 0 || ClockPs > 1_000_000) begin : gen_bad_clock
    $error("ClockPs must be from 1 to 1000000");
  end

  logic [31:0] tick_q;
  logic [31:0] pause_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tick_q       <= '0;
      now_o        <= '0;
      pause_q      <= '0;
      scan_valid_o <= 1'b0;
      scan_index_o <= '0;
    end else begin
      tick_q <= tick_q == TickCycles - 1 ? '0 : tick_q + 1;
      if (tick_q == TickCycles - 1) now_o <= now_o + 1;

      pause_q <= pause_q == ScanCycles - 1 ? '0 : pause_q + 1;
      if (pause_q == ScanCycles - 1) scan_valid_o <= 1'b1;
      else if (scan_ready_i) scan_valid_o <= 1'b0;
      if (scan_valid_o && scan_ready_i) scan_index_o <= scan_index_o + 1'b1;
    end
  end

endmodule

`default_nettype wire
