// SPDX-License-Identifier: BSD-2-Clause
//
// First stage of the receive path: delays the stream by one cycle and adds to
// each beat its index, and the frame's first 64 bytes as far as they have
// come, this beat included. Bytes that have not come, null lanes among them,
// are zero: nothing of an earlier frame is ever visible.
// With the last beat go the frame's length and whether to discard it (tuser,
// or longer than a position can count).

`default_nettype none

module rx_window
  import rx_header_pkg::window_t;
  import rx_header_pkg::WindowBytes;
#(
  parameter int unsigned DataWidth = 64,
  localparam int unsigned Lanes    = DataWidth / 8,
  localparam int unsigned LaneBits = $clog2(Lanes),
  localparam int unsigned BeatBits = 16 - LaneBits
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 valid_i,
  input  wire logic [DataWidth-1:0] tdata_i,
  input  wire logic [Lanes-1:0]     tkeep_i,
  input  wire logic                 tlast_i,
  input  wire logic                 tuser_i,

  output      logic                 valid_o,
  output      logic [DataWidth-1:0] data_o,
  output      logic                 last_o,
  output      logic [BeatBits-1:0]  beat_o,
  output      window_t              window_o,
  output      icrc_pkg::position_t  length_o,
  output      logic                 discard_o
);

  localparam int unsigned WindowBits  = 8 * WindowBytes;
  localparam int unsigned WindowBeats = WindowBits > DataWidth ? WindowBits / DataWidth : 1;
  localparam logic [BeatBits-1:0] LastBeat = '1;

  logic [BeatBits-1:0]  beat_q;
  logic [DataWidth-1:0] data;
  window_t              window_d;

  always_comb begin
    data = tdata_i;
    if (valid_i && tlast_i) begin
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        if (!tkeep_i[lane]) data[8*lane+:8] = '0;
      end
    end
  end

  if (WindowBeats == 1) begin : gen_one_beat
    assign window_d = beat_q == '0 ? data[WindowBits-1:0] : window_o;
  end else begin : gen_beats
    always_comb begin
      window_d = beat_q == '0 ? '0 : window_o;
      for (int unsigned beat = 0; beat < WindowBeats; beat++) begin
        if (beat_q == BeatBits'(beat)) window_d[DataWidth*beat+:DataWidth] = data;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      data_o    <= data;
      last_o    <= tlast_i;
      beat_o    <= beat_q;
      length_o  <= {beat_q, LaneBits'(0)} + 16'($countones(tkeep_i));
      discard_o <= tuser_i || beat_q == LastBeat;
      if (beat_q < BeatBits'(WindowBeats)) window_o <= window_d;
    end

    if (!rst_ni) begin
      valid_o <= 1'b0;
      beat_q  <= '0;
    end else begin
      valid_o <= valid_i;
      if (valid_i) begin
        if (tlast_i)                  beat_q <= '0;
        else if (beat_q != LastBeat) beat_q <= beat_q + 1'b1;
      end
    end
  end

endmodule

`default_nettype wire
