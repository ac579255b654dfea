// SPDX-License-Identifier: BSD-2-Clause
//
// Which frame goes next: a pause of our own before any other, and none of a
// class that is held. A frame once begun goes to its end.

`default_nettype none

module transmit_gate (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [7:0]  held_i,
  input  wire logic [2:0]  s_class_i,
  input  wire logic [63:0] s_tdata_i,
  input  wire logic [7:0]  s_tkeep_i,
  input  wire logic        s_tvalid_i,
  input  wire logic        s_tlast_i,
  input  wire logic        s_tuser_i,
  output logic             s_tready_o,
  input  wire logic [63:0] pause_tdata_i,
  input  wire logic [7:0]  pause_tkeep_i,
  input  wire logic        pause_tvalid_i,
  input  wire logic        pause_tlast_i,
  output logic             pause_tready_o,
  output logic      [63:0] m_tdata_o,
  output logic      [7:0]  m_tkeep_o,
  output logic             m_tvalid_o,
  output logic             m_tlast_o,
  output logic             m_tuser_o,
  input  wire logic        m_tready_i
);

  logic amid_q, is_pause_q, is_pause, goes;

  assign is_pause       = amid_q ? is_pause_q : pause_tvalid_i;
  assign goes           = amid_q || !held_i[s_class_i];
  assign m_tvalid_o     = is_pause ? pause_tvalid_i : s_tvalid_i && goes;
  assign m_tdata_o      = is_pause ? pause_tdata_i : s_tdata_i;
  assign m_tkeep_o      = is_pause ? pause_tkeep_i : s_tkeep_i;
  assign m_tlast_o      = is_pause ? pause_tlast_i : s_tlast_i;
  assign m_tuser_o      = !is_pause && s_tuser_i;
  assign s_tready_o     = !is_pause && goes && m_tready_i;
  assign pause_tready_o = is_pause && m_tready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      amid_q <= 1'b0;
    end else if (m_tvalid_o && m_tready_i) begin
      amid_q     <= !m_tlast_o;
      is_pause_q <= is_pause;
    end
  end

endmodule

`default_nettype wire
