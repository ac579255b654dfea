// SPDX-License-Identifier: BSD-2-Clause
//
// Puts VLAN tags (802.1Q) into frames: four bytes between source MAC and EtherType, where
// the tag beside the frame says that there is one. A frame whose last beat has no
// room for the four bytes that were pushed on ends in a beat more, for which it takes
// one cycle; no cycle is lost otherwise. s_mark_i goes with the frame.

`default_nettype none

module vlan_insert
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
  input  wire vlan_tag_t            s_tag_i,
  input  wire logic                 s_mark_i,
  output      logic                 s_tready_o,

  output      logic [DataWidth-1:0] m_tdata_o,
  output      logic [Lanes-1:0]     m_tkeep_o,
  output      logic                 m_tvalid_o,
  output      logic                 m_tlast_o,
  output      logic                 m_mark_o,
  input  wire logic                 m_tready_i
);

  localparam int unsigned TagBytes  = 4;
  localparam int unsigned Addresses = 12;                 // bytes in front of a tag
  localparam int unsigned TagLane   = Addresses % Lanes;
  localparam logic [1:0]  TagBeat   = 2'(Addresses / Lanes);

  logic [1:0]            beat_q;    // of the frame, as far as TagBeat + 1
  logic                  rest_q;    // a frame's last bytes are in pushed_q
  logic [8*TagBytes-1:0] pushed_q;  // out of the beat before
  logic [TagBytes-1:0]   pushed_keep_q;
  logic [15:0]           tci;       // the tag's control information, DEI clear
  logic [8*TagBytes-1:0] tag;       // as on the stream
  logic [DataWidth-1:0]  data;
  logic [Lanes-1:0]      keep;
  logic                  take, shifts, overflows;

  assign tci        = {s_tag_i.pcp, 1'b0, s_tag_i.vid};
  assign tag        = {tci[7:0], tci[15:8], EtherTypeVlan[7:0], EtherTypeVlan[15:8]};
  assign take       = !m_tvalid_o || m_tready_i;
  assign s_tready_o = take && !rest_q;
  assign shifts     = s_tag_i.present && (beat_q == TagBeat || beat_q > TagBeat);
  assign overflows  = shifts && s_tlast_i && s_tkeep_i[Lanes-TagBytes];
  assign keep       = shifts ? {s_tkeep_i[Lanes-TagBytes-1:0], {TagBytes{1'b1}}} : s_tkeep_i;

  always_comb begin
    data = s_tdata_i;
    if (shifts) begin
      data = {s_tdata_i[DataWidth-8*TagBytes-1:0], pushed_q};
      if (beat_q == TagBeat) begin
        data[8*TagLane-1:0]          = s_tdata_i[8*TagLane-1:0];
        data[8*TagLane+:8*TagBytes] = tag;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      m_tvalid_o <= s_tvalid_i || rest_q;
      if (rest_q) begin
        m_tdata_o <= DataWidth'(pushed_q);
        m_tkeep_o <= Lanes'(pushed_keep_q);
        m_tlast_o <= 1'b1;
        rest_q    <= 1'b0;
      end else if (s_tvalid_i) begin
        m_tdata_o     <= data;
        m_tkeep_o     <= keep;
        m_tlast_o     <= s_tlast_i && !overflows;
        m_mark_o      <= s_mark_i;
        rest_q        <= overflows;
        pushed_q      <= s_tdata_i[DataWidth-1-:8*TagBytes];
        pushed_keep_q <= s_tkeep_i[Lanes-1-:TagBytes];
        if (s_tlast_i)              beat_q <= '0;
        else if (beat_q <= TagBeat) beat_q <= beat_q + 1'b1;
      end
    end
    if (!rst_ni) begin
      m_tvalid_o <= 1'b0;
      rest_q     <= 1'b0;
      beat_q     <= '0;
    end
  end

endmodule

`default_nettype wire
