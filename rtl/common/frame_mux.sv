// SPDX-License-Identifier: BSD-2-Clause
//
// Merges two streams of frames, with their tags beside them. A frame once begun is
// finished before another begins; when both sides wait, they take turns. The output
// is registered and adds no idle cycles between frames. m_from_a_o says whose beat is on
// m_*, and a_left_o that a frame of stream a is gone: its last beat is being taken.

`default_nettype none

module frame_mux #(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,

  input  wire logic [DataWidth-1:0]   a_tdata_i,
  input  wire logic [DataWidth/8-1:0] a_tkeep_i,
  input  wire logic                   a_tvalid_i,
  input  wire logic                   a_tlast_i,
  input  wire roce_pkg::vlan_tag_t    a_tag_i,
  output      logic                   a_tready_o,
  output      logic                   a_left_o,

  input  wire logic [DataWidth-1:0]   b_tdata_i,
  input  wire logic [DataWidth/8-1:0] b_tkeep_i,
  input  wire logic                   b_tvalid_i,
  input  wire logic                   b_tlast_i,
  input  wire roce_pkg::vlan_tag_t    b_tag_i,
  output      logic                   b_tready_o,

  output      logic [DataWidth-1:0]   m_tdata_o,
  output      logic [DataWidth/8-1:0] m_tkeep_o,
  output      logic                   m_tvalid_o,
  output      logic                   m_tlast_o,
  output      roce_pkg::vlan_tag_t    m_tag_o,
  output      logic                   m_from_a_o,
  input  wire logic                   m_tready_i
);

  logic inside_q;    // a frame has begun and not ended
  logic b_served_q;  // the latest beat came from b
  logic b_next;      // the next beat comes from b
  logic take, last;

  assign b_next     = inside_q ? b_served_q : b_tvalid_i && !(a_tvalid_i && b_served_q);
  assign take       = !m_tvalid_o || m_tready_i;
  assign last       = b_next ? b_tlast_i : a_tlast_i;
  assign a_tready_o = take && !b_next;
  assign b_tready_o = take && b_next;
  assign m_from_a_o = !b_served_q;
  assign a_left_o   = m_tvalid_o && m_tready_i && m_tlast_o && !b_served_q;

  always_ff @(posedge clk_i) begin
    if (take) begin
      m_tvalid_o <= b_next ? b_tvalid_i : a_tvalid_i;
      if (b_next ? b_tvalid_i : a_tvalid_i) begin
        m_tdata_o  <= b_next ? b_tdata_i : a_tdata_i;
        m_tkeep_o  <= b_next ? b_tkeep_i : a_tkeep_i;
        m_tlast_o  <= last;
        m_tag_o    <= b_next ? b_tag_i : a_tag_i;
        b_served_q <= b_next;
        inside_q   <= !last;
      end
    end
    if (!rst_ni) begin
      m_tvalid_o <= 1'b0;
      inside_q   <= 1'b0;
      b_served_q <= 1'b1;  // so a goes first
    end
  end

endmodule

`default_nettype wire
