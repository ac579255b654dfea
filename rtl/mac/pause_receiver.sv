// SPDX-License-Identifier: BSD-2-Clause
//
// Obeys the pauses in a stream of received frames: PAUSE (802.3 annex 31B) for
// all classes, priority pauses (802.1Qbb) for those that they name. A class is
// held for so many times 512 bits from the cycle behind the frame's end on; a
// later pause counts anew, and one of no time lifts it. control_o says with
// tlast that the frame is one of MAC control, which is nobody else's.

`default_nettype none

module pause_receiver
  import xgmii_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [47:0] port_mac_i,
  input  wire logic [63:0] tdata_i,
  input  wire logic        tvalid_i,
  input  wire logic        tlast_i,
  input  wire logic        tuser_i,
  output logic             control_o,
  output logic [7:0]       held_o
);

  typedef logic [15:0] quanta_t;

  localparam int unsigned QuantumBits = $clog2(QuantumCycles);

  // Beats of a pause: addresses, type and opcode, the vector of classes, their times.
  logic [2:0]    beat_q;    // and no further than behind the last that is read
  logic          ours_q, control_q;
  logic [15:0]   opcode_q;
  quanta_t       vector_q;  // the time, if all are meant
  quanta_t [7:0] times_q;

  function automatic logic [15:0] field(logic [63:0] data, int unsigned lane);
    return {data[8*lane+:8], data[8*lane+8+:8]};
  endfunction

  logic [47:0] destination;
  assign destination = {field(tdata_i, 0), field(tdata_i, 2), field(tdata_i, 4)};

  always_ff @(posedge clk_i) begin
    if (tvalid_i) begin
      unique case (beat_q)
        3'd0: ours_q <= destination == ToTheLink || destination == port_mac_i;
        3'd1: begin
          control_q <= field(tdata_i, 4) == EtherType;
          opcode_q  <= field(tdata_i, 6);
        end
        3'd2: {vector_q, times_q[0], times_q[1], times_q[2]} <=
            {field(tdata_i, 0), field(tdata_i, 2), field(tdata_i, 4), field(tdata_i, 6)};
        3'd3: {times_q[3], times_q[4], times_q[5], times_q[6]} <=
            {field(tdata_i, 0), field(tdata_i, 2), field(tdata_i, 4), field(tdata_i, 6)};
        3'd4: times_q[7] <= field(tdata_i, 0);
        default: ;
      endcase
      if (tlast_i)                beat_q <= '0;
      else if (beat_q != 3'd5) beat_q <= beat_q + 3'd1;
    end
    if (!rst_ni) beat_q <= '0;
  end

  assign control_o = control_q;

  // 64 bytes at least have come, or tuser says that they have not.
  logic                         obeyed, of_classes;
  logic [7:0]                   told;
  logic [7:0][15+QuantumBits:0] left_q;  // cycles

  assign obeyed     = tvalid_i && tlast_i && !tuser_i && control_q && ours_q;
  assign of_classes = opcode_q == PriorityPause;

  always_comb begin
    for (int n = 0; n < 8; n++) begin
      told[n]   = obeyed && (of_classes ? vector_q[n] : opcode_q == GlobalPause);
      held_o[n] = left_q[n] != '0;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int n = 0; n < 8; n++) begin
      if (told[n]) left_q[n] <= {of_classes ? times_q[n] : vector_q, QuantumBits'(0)};
      else if (left_q[n] != '0) left_q[n] <= left_q[n] - 1'b1;
    end
    if (!rst_ni) left_q <= '0;
  end

endmodule

`default_nettype wire
