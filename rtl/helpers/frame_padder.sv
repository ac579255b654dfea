// SPDX-License-Identifier: BSD-2-Clause
//
// Zeros behind frames that are shorter than MinBytes, up to that length, for
// cores that leave it to their MAC; longer frames pass as they are. There is
// no register between in and out.

`default_nettype none

module frame_padder #(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned MinBytes  = 60
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,

  input  wire logic [DataWidth-1:0]   s_tdata_i,
  input  wire logic [DataWidth/8-1:0] s_tkeep_i,
  input  wire logic                   s_tvalid_i,
  input  wire logic                   s_tlast_i,
  input  wire logic                   s_tuser_i,
  output logic                        s_tready_o,

  output logic [DataWidth-1:0]        m_tdata_o,
  output logic [DataWidth/8-1:0]      m_tkeep_o,
  output logic                        m_tvalid_o,
  output logic                        m_tlast_o,
  output logic                        m_tuser_o,
  input  wire logic                   m_tready_i
);

  localparam int unsigned Lanes    = DataWidth / 8;
  localparam int unsigned Beats    = (MinBytes + Lanes - 1) / Lanes;  // of a frame of MinBytes
  localparam int unsigned BeatBits = $clog2(Beats + 1);

  typedef logic [BeatBits-1:0] beat_t;

  localparam beat_t            LastBeat = beat_t'(Beats - 1);
  localparam beat_t            Beyond   = beat_t'(Beats);
  localparam logic [Lanes-1:0] LastKeep = {Lanes{1'b1}} >> (Lanes * Beats - MinBytes);

  beat_t beat_q;     // of this frame, and no further than behind the last that may be padded
  logic  padding_q;  // the frame has ended: zeros follow
  logic  user_q;

  logic             ends;
  logic             short_beat;  // a frame that ends in this beat needs more
  logic [Lanes-1:0] kept;

  assign ends       = padding_q || s_tlast_i;
  assign short_beat = beat_q != LastBeat && beat_q != Beyond;
  assign kept       = padding_q ? '0 : s_tkeep_i;
  assign s_tready_o = !padding_q && m_tready_i;
  assign m_tvalid_o = padding_q || s_tvalid_i;
  assign m_tlast_o  = ends && !short_beat;
  assign m_tuser_o  = m_tlast_o && (padding_q ? user_q : s_tuser_i);

  always_comb begin
    m_tkeep_o = kept;
    if (ends && short_beat) m_tkeep_o = '1;
    if (ends && beat_q == LastBeat) m_tkeep_o = kept | LastKeep;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      m_tdata_o[8*lane+:8] = kept[lane] ? s_tdata_i[8*lane+:8] : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_q    <= '0;
      padding_q <= 1'b0;
    end else if (m_tvalid_o && m_tready_i) begin
      beat_q    <= m_tlast_o ? '0 : beat_q + beat_t'(beat_q != Beyond);
      padding_q <= ends && !m_tlast_o;
      if (!padding_q) user_q <= s_tuser_i;
    end
  end

endmodule

`default_nettype wire
