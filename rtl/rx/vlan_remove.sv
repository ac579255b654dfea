// SPDX-License-Identifier: BSD-2-Clause
//
// Takes the VLAN tag (802.1Q) out of frames that have one, whatever its VID and priority,
// so that all behind sees frames without; m_tag_o, valid with the last beat, says what was
// there. One beat in each cycle, and none lost between frames: a beat waits here until the
// four bytes behind it have come, or its frame is over. Of two tags the second stays.

`default_nettype none

module vlan_remove
  import roce_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  localparam int unsigned Lanes    = DataWidth / 8
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic [DataWidth-1:0] s_tdata_i,
  input  wire logic [Lanes-1:0]     s_tkeep_i,
  input  wire logic                 s_tvalid_i,
  input  wire logic                 s_tlast_i,
  input  wire logic                 s_tuser_i,
  output      logic                 s_tready_o,

  output      logic [DataWidth-1:0] m_tdata_o,
  output      logic [Lanes-1:0]     m_tkeep_o,
  output      logic                 m_tvalid_o,
  output      logic                 m_tlast_o,
  output      logic                 m_tuser_o,
  output      vlan_tag_t            m_tag_o,
  input  wire logic                 m_tready_i
);

  localparam int unsigned TagBytes  = 4;
  localparam int unsigned Addresses = 12;                 // bytes in front of a tag
  localparam int unsigned TagLane   = Addresses % Lanes;
  localparam logic [1:0]  TagBeat   = 2'(Addresses / Lanes);

  // The beat that waits.
  logic                 valid_q, last_q, user_q;
  logic [DataWidth-1:0] data_q;
  logic [Lanes-1:0]     keep_q;
  logic [1:0]           beat_q;  // of its frame, as far as TagBeat + 1
  vlan_tag_t            tag_q;   // of its frame, behind TagBeat
  logic                 taken, gone, ends_early;

  always_comb begin
    m_tag_o = beat_q > TagBeat ? tag_q : '0;
    if (beat_q == TagBeat && keep_q[TagLane+TagBytes-1]
        && {data_q[8*TagLane+:8], data_q[8*(TagLane+1)+:8]} == EtherTypeVlan) begin
      m_tag_o         = {data_q[8*(TagLane+2)+:8], data_q[8*(TagLane+3)+:8]};
      m_tag_o.present = 1'b1;
    end
  end

  // The next beat has nothing but what fills this one.
  assign ends_early = m_tag_o.present && !last_q && s_tlast_i && !s_tkeep_i[TagBytes];

  assign m_tvalid_o = valid_q && (last_q || s_tvalid_i);
  assign m_tlast_o  = last_q || ends_early;
  assign m_tuser_o  = ends_early ? s_tuser_i : user_q;
  assign s_tready_o = !valid_q || m_tready_i;
  assign taken      = s_tvalid_i && s_tready_o;
  assign gone       = m_tvalid_o && m_tready_i;

  always_comb begin
    m_tdata_o = data_q;
    m_tkeep_o = keep_q;
    if (m_tag_o.present) begin
      m_tdata_o = {s_tdata_i[8*TagBytes-1:0], data_q[DataWidth-1:8*TagBytes]};
      m_tkeep_o = {last_q ? TagBytes'(0) : s_tkeep_i[TagBytes-1:0], keep_q[Lanes-1:TagBytes]};
      if (beat_q == TagBeat) m_tdata_o[8*TagLane-1:0] = data_q[8*TagLane-1:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken) begin
      data_q <= s_tdata_i;
      keep_q <= s_tkeep_i;
      last_q <= s_tlast_i;
      user_q <= s_tuser_i;
      tag_q  <= m_tag_o;
      if (!valid_q || last_q)      beat_q <= '0;
      else if (beat_q <= TagBeat) beat_q <= beat_q + 1'b1;
    end
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else if (taken) begin
      valid_q <= !(valid_q && ends_early);
    end else if (gone) begin
      valid_q <= 1'b0;
    end
  end

endmodule

`default_nettype wire
