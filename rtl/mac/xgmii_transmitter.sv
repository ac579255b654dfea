// SPDX-License-Identifier: BSD-2-Clause
//
// Frames of 60 bytes and more out as XGMII, with preamble and FCS, from lane 0
// or 4. Gaps, Terminate included, are 12 bytes on average while frames wait,
// and up to 3 less where that lets the next start in the nearer lane (deficit
// idle count). A frame once begun must come without a pause. left_o goes with
// the Terminate of a frame whose last beat had tuser.

`default_nettype none

module xgmii_transmitter
  import xgmii_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [63:0] s_tdata_i,
  input  wire logic [7:0]  s_tkeep_i,
  input  wire logic        s_tvalid_i,
  input  wire logic        s_tlast_i,
  input  wire logic        s_tuser_i,
  output logic             s_tready_o,
  output logic      [63:0] xgmii_txd_o,
  output logic      [7:0]  xgmii_txc_o,
  output logic             left_o
);

  // Columns as if every frame began in lane 0: what one holds, and for a frame's last beat the rest.
  typedef enum logic [1:0] { Gap, Begin, Data, Tail } kind_e;

  typedef struct packed {
    logic [63:0] data;
    logic [3:0]  bytes;
    logic        last;
    logic        user;
  } beat_t;

  typedef struct packed {
    kind_e kind;
    logic  shifted;  // of Begin: the frame starts in lane 4
    beat_t beat;
  } step_t;

  localparam int unsigned FcsCycles = 5;  // from a beat to the FCS of what it ends

  kind_e      kind_q;     // of this step, unless a frame begins
  beat_t      beat_q;     // of the frame, the next to leave
  logic [1:0] wait_q;     // steps until the next frame may begin
  logic       shifted_q, next_shifted_q;
  logic [1:0] deficit_q;  // what gaps are behind 12
  logic       first_q;
  step_t      step;

  logic       begins, ends, has_tail, carries;
  logic [1:0] deficit;
  logic [2:0] halves;     // from the start of the column with Terminate to where a frame may begin

  assign begins     = kind_q == Gap && wait_q == '0 && s_tvalid_i;
  assign s_tready_o = (kind_q == Gap && wait_q == '0) || (kind_q == Data && !beat_q.last);
  assign has_tail   = beat_q.bytes >= 4'd4;
  assign ends       = kind_q == Tail || (kind_q == Data && beat_q.last && !has_tail);

  // Terminate is four lanes behind the last byte: a gap lacks what that is behind a lane 0 or 4,
  // and half a column more is due once these lacks would add up to that.
  assign {carries, deficit} = {1'b0, deficit_q} + {1'b0, beat_q.bytes[1:0]};
  assign halves = 3'd3 + 3'(shifted_q) + 3'(!has_tail || beat_q.bytes[3]) + 3'(carries);
  assign step   = '{kind: begins ? Begin : kind_q, shifted: next_shifted_q, beat: beat_q};

  always_ff @(posedge clk_i) begin
    if (s_tvalid_i && s_tready_o) begin
      beat_q <= '{data: s_tdata_i, bytes: 4'($countones(s_tkeep_i)), last: s_tlast_i,
                  user: s_tuser_i};
    end
    first_q <= begins;

    if (!rst_ni) begin
      kind_q         <= Gap;
      wait_q         <= '0;
      next_shifted_q <= 1'b0;
      deficit_q      <= '0;
    end else if (begins) begin
      kind_q    <= Data;
      shifted_q <= next_shifted_q;
    end else if (ends) begin
      kind_q         <= Gap;
      deficit_q      <= deficit;
      wait_q         <= halves[2:1] - 2'd1;
      next_shifted_q <= halves[0];
    end else if (kind_q == Data && beat_q.last) begin
      kind_q <= Tail;
    end else if (kind_q == Gap && wait_q != '0) begin
      wait_q <= wait_q - 2'd1;
    end else if (kind_q == Gap) begin
      deficit_q      <= '0;  // nobody waits, so the gap is longer than any must be
      next_shifted_q <= 1'b0;
    end
  end

  logic [31:0] crc, fcs;
  logic        last_q, is_last_q;
  logic [2:0]  zeros_q, last_zeros_q;
  logic        unused_valid;

  fcs_engine u_fcs_engine (
    .clk_i,
    .rst_ni,
    .valid_i(step.kind == Data),
    .first_i(first_q),
    .data_i (step.beat.data),
    .keep_i (8'hFF >> (4'd8 - step.beat.bytes)),
    .crc_o  (crc)
  );

  always_ff @(posedge clk_i) begin
    last_q       <= step.kind == Data && step.beat.last;
    zeros_q      <= 3'(4'd8 - step.beat.bytes);
    is_last_q    <= last_q;
    last_zeros_q <= zeros_q;
  end

  crc32_unwind #(
    .Stages(3)
  ) u_unwind (
    .clk_i,
    .rst_ni,
    .valid_i     (is_last_q),
    .crc_i       (crc),
    .zero_bytes_i(last_zeros_q),
    .valid_o     (unused_valid),
    .crc_o       (fcs)
  );

  // Steps wait for the FCS.
  step_t steps_q[FcsCycles];
  step_t now;

  assign now = steps_q[FcsCycles-1];

  always_ff @(posedge clk_i) begin
    steps_q[0] <= step;
    for (int n = 1; n < int'(FcsCycles); n++) steps_q[n] <= steps_q[n-1];
    if (!rst_ni) begin
      for (int n = 0; n < int'(FcsCycles); n++) steps_q[n].kind <= Gap;
    end
  end

  // Behind a frame's last byte come FCS, Terminate and Idle.
  column_t      column, spilt, spilt_q;
  column_t      out;
  lane_t [3:0]  half_q;      // what a shifted column has left over
  logic         is_shifted, is_shifted_q, user_q, terminates;

  always_comb begin
    spilt  = IdleColumn;
    column = IdleColumn;
    unique case (now.kind)
      Gap:   column = IdleColumn;
      Begin: column = StartColumn;
      Tail:  column = spilt_q;
      default: begin
        automatic lane_t [15:0] lanes = {16{Idle}};
        for (int unsigned lane = 0; lane < 8; lane++) begin
          if (!now.beat.last || lane < 32'(now.beat.bytes)) lanes[lane] = {1'b0, now.beat.data[8*lane+:8]};
        end
        if (now.beat.last) begin
          for (int unsigned n = 0; n < 4; n++) lanes[32'(now.beat.bytes)+n] = {1'b0, ~fcs[8*n+:8]};
          lanes[32'(now.beat.bytes)+4] = Terminate;
        end
        {spilt, column} = lanes;
      end
    endcase
  end

  assign is_shifted = now.kind == Begin ? now.shifted : is_shifted_q;
  assign out        = is_shifted ? {column[3:0], half_q} : column;

  always_comb begin
    terminates = 1'b0;
    for (int lane = 0; lane < 8; lane++) terminates |= out[lane] == Terminate;
  end

  always_ff @(posedge clk_i) begin
    for (int lane = 0; lane < 8; lane++) {xgmii_txc_o[lane], xgmii_txd_o[8*lane+:8]} <= out[lane];
    spilt_q      <= spilt;
    half_q       <= column[7:4];
    is_shifted_q <= is_shifted;
    if (now.kind == Data) user_q <= now.beat.user;
    left_o       <= terminates && (now.kind == Data ? now.beat.user : user_q);
    if (!rst_ni) begin
      {xgmii_txc_o, xgmii_txd_o} <= {8'hFF, {8{Idle[7:0]}}};
      half_q       <= {4{Idle}};
      is_shifted_q <= 1'b0;
      left_o       <= 1'b0;
    end
  end

  assert_no_pause: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(kind_q == Data && !beat_q.last && !s_tvalid_i))
  else $error("a frame pauses amid its beats");

  assert_nothing_left_over: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(is_shifted_q && !is_shifted && half_q != {4{Idle}}))
  else $error("a frame begins over the end of the one before");

endmodule

`default_nettype wire
