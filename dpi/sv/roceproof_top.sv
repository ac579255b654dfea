// SPDX-License-Identifier: BSD-2-Clause
//
// The simulated device: Ports DUTs, one bridge session, and time. The session
// is polled on falling edges, so what C learns there reaches every port at the
// next rising edge in any simulator. Cycle n is the n-th rising edge out of
// reset, counted from 0.

`default_nettype none

module roceproof_top
  import roceproof_bridge_pkg::*;
#(
  parameter int          Ports     = 1,
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400
) (
  input wire logic clk_i,
  input wire logic rst_ni  // changes between a rising and the next falling edge
);

  cycle_t           cycle_q;
  cycle_t           next_poll_q;
  logic [Ports-1:0] poll;
  int               reset_q[Ports];  // cycles of it that a port has before it
  logic [Ports-1:0] is_reset, awakes_q;
  wake_t            wake_q[Ports];
  flow_t            flow_q[Ports];
  signals_t         signals[Ports];
  cycle_t           beats[Ports][Streams];
  cycle_t           moved[Ports][Streams];

  initial begin
    automatic string control = "";
    if ($value$plusargs("roceproof_control=%s", control) == 0) begin
      $fatal(1, "no +roceproof_control: simulations are started by roceproof, see docs/bridge.md");
    end
    session = roceproof_session_open(control, Ports, int'(DataWidth), longint'(ClockPs));
    for (int p = 0; p < Ports; p++) port[p] = roceproof_port_open(session, p);
  end

  always_ff @(posedge clk_i) begin
    cycle_q <= rst_ni ? cycle_q + 1 : 0;
  end

  always_ff @(negedge clk_i) begin
    if (!rst_ni) begin
      next_poll_q <= 0;
      for (int p = 0; p < Ports; p++) begin
        wake_q[p]   <= '0;
        flow_q[p]   <= '0;
        reset_q[p]  <= 0;
        awakes_q[p] <= 1'b0;
      end
    end else if (cycle_q >= next_poll_q || (|poll) || (|awakes_q)) begin
      automatic longint cycles;
      for (int p = 0; p < Ports; p++) begin
        automatic bit [Streams-1:0][63:0] beats_now, moved_now;
        for (int s = 0; s < Streams; s++) begin
          beats_now[s] = beats[p][s];
          moved_now[s] = moved[p][s];
        end
        roceproof_port_watched(port[p], beats_now, moved_now, int'(signals[p]));
      end
      cycles = roceproof_session_poll(session, cycle_q);
      next_poll_q <= cycle_q + cycle_t'(cycles);
      if (cycles < 0) $fatal(1, "%s", roceproof_session_error(session));
      if (cycles == 0) $finish;
      for (int p = 0; p < Ports; p++) begin
        automatic bit [71:0] percent;
        automatic int        wake;
        // On a line of its own: inside an expression, Verilator 5.032 loses what it outputs.
        wake = roceproof_port_wake(port[p], percent);
        wake_q[p]   <= wake_t'(wake);
        flow_q[p]   <= percent;
        if (is_reset[p]) reset_q[p] <= reset_q[p] - 1;
        else reset_q[p] <= roceproof_port_reset(port[p]);
        awakes_q[p] <= reset_q[p] == 1;
      end
    end else begin
      for (int p = 0; p < Ports; p++) begin
        wake_q[p]   <= '0;
        if (is_reset[p]) reset_q[p] <= reset_q[p] - 1;
        awakes_q[p] <= reset_q[p] == 1;
      end
    end
  end

  final begin
    roceproof_session_close(session, cycle_q);
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign is_reset[p] = reset_q[p] != 0;

    roceproof_port #(
      .Index    (p),
      .DataWidth(DataWidth),
      .ClockPs  (ClockPs)
    ) u_port (
      .clk_i,
      .rst_ni   (rst_ni && !is_reset[p]),
      .cycle_i  (cycle_q),
      .wake_i   (wake_q[p]),
      .flow_i   (flow_q[p]),
      .poll_o   (poll[p]),
      .signals_o(signals[p]),
      .beats_o  (beats[p]),
      .moved_o  (moved[p])
    );
  end

endmodule

`default_nettype wire
