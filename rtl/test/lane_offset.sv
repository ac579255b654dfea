// SPDX-License-Identifier: BSD-2-Clause
//
// Bench: moves a frame's first byte to the lane that the sideband of its first
// beat says, as payload comes over the DUT contract. Lanes in front of it and
// behind the end carry noise.

`default_nettype none

module lane_offset #(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [DataWidth-1:0]   s_tdata_i,
  input  wire logic [DataWidth/8-1:0] s_tkeep_i,
  input  wire logic                   s_tvalid_i,
  input  wire logic                   s_tlast_i,
  input  wire logic [$clog2(DataWidth/8)-1:0] s_offset_i,
  output logic                        s_tready_o,
  output logic [DataWidth-1:0]        m_tdata_o,
  output logic [DataWidth/8-1:0]      m_tkeep_o,
  output logic                        m_tvalid_o,
  output logic                        m_tlast_o,
  input  wire logic                   m_tready_i
);

  localparam int unsigned Lanes = DataWidth / 8;
  localparam int unsigned Bits  = $clog2(Lanes);

  logic                 begun_q;  // a frame's first beat has come
  logic                 tail_q;   // only what is carried is left of it
  logic [Bits-1:0]      offset_q, offset;
  logic [DataWidth-1:0] carry_q, over;
  logic [Lanes-1:0]     carry_keep_q, keep, over_keep;
  logic [DataWidth-1:0] data;

  assign offset     = begun_q ? offset_q : s_offset_i;
  assign s_tready_o = m_tready_i && !tail_q;
  assign m_tvalid_o = tail_q || s_tvalid_i;
  assign m_tlast_o  = tail_q || (s_tlast_i && over_keep == '0);

  always_comb begin
    {over, data}      = {{DataWidth{1'b0}}, s_tdata_i} << {offset, 3'b000};
    {over_keep, keep} = {{Lanes{1'b0}}, s_tkeep_i} << offset;
    m_tkeep_o = tail_q ? carry_keep_q : keep | carry_keep_q;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      m_tdata_o[8*lane+:8] = carry_keep_q[lane] ? carry_q[8*lane+:8]
                           : !tail_q && keep[lane] ? data[8*lane+:8] : 8'h5A;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_q      <= 1'b0;
      tail_q       <= 1'b0;
      carry_keep_q <= '0;
    end else if (m_tvalid_o && m_tready_i) begin
      begun_q      <= !m_tlast_o;
      offset_q     <= offset;
      tail_q       <= !m_tlast_o && s_tlast_i;
      carry_q      <= over;
      carry_keep_q <= m_tlast_o ? '0 : over_keep;
    end
  end

endmodule

`default_nettype wire
