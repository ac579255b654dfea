// SPDX-License-Identifier: BSD-2-Clause
//
// Writes the ICRC into frames of RoCEv2 packets that have no tag yet. Each frame comes with a
// four-byte slot at position s_icrc_offset_i, and over IPv6 with s_ipv6_i, which
// are read with the frame's first beat; Ethernet padding may follow the slot. Frames leave
// in order with nothing but the slot changed and no beat added, and the tag that they
// shall have beside them.
//
// Every beat goes both into a FIFO and into the CRC. Beats before the slot may
// leave at once; the slot's own beats wait for the CRC, and the FIFO is deep
// enough that this wait costs no throughput, even with one frame per beat.

`default_nettype none

module icrc_insert #(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,

  input  wire logic [DataWidth-1:0]   s_tdata_i,
  input  wire logic [DataWidth/8-1:0] s_tkeep_i,
  input  wire logic                   s_tvalid_i,
  input  wire logic                   s_tlast_i,
  output      logic                   s_tready_o,
  input  wire logic [13:0]            s_icrc_offset_i,
  input  wire logic                   s_ipv6_i,
  input  wire roce_pkg::vlan_tag_t    s_tag_i,

  output      logic [DataWidth-1:0]   m_tdata_o,
  output      logic [DataWidth/8-1:0] m_tkeep_o,
  output      logic                   m_tvalid_o,
  output      logic                   m_tlast_o,
  output      roce_pkg::vlan_tag_t    m_tag_o,
  input  wire logic                   m_tready_i
);

  localparam int unsigned Lanes    = DataWidth / 8;
  localparam int unsigned LaneBits = $clog2(Lanes);
  localparam int unsigned BeatBits = $bits(icrc_pkg::position_t) - LaneBits;
  localparam int unsigned Depth    = 16;

  typedef struct packed {
    logic                 last;
    logic                 slot_starts;  // the slot's first byte is in this beat
    logic                 slot_ends;    // the slot's last byte is in this beat
    logic [LaneBits-1:0]  slot_lane;    // lane of the slot's first byte
    logic [Lanes-1:0]     keep;
    logic [DataWidth-1:0] data;
    roce_pkg::vlan_tag_t  tag;
  } beat_t;

  // Input: where is the slot, seen from this beat?
  logic [BeatBits-1:0] beat_q;
  icrc_pkg::position_t offset_q, offset;
  logic [BeatBits-1:0] slot_first_beat, slot_last_beat;
  logic                slot_straddles;
  logic                ipv6_q, ipv6;
  beat_t               in;

  assign offset          = beat_q == '0 ? icrc_pkg::position_t'(s_icrc_offset_i) : offset_q;
  assign ipv6            = beat_q == '0 ? s_ipv6_i : ipv6_q;
  assign slot_straddles  = offset[LaneBits-1:0] > LaneBits'(Lanes - 4);
  assign slot_first_beat = offset[$bits(offset)-1:LaneBits];
  assign slot_last_beat  = slot_first_beat + BeatBits'(slot_straddles);

  assign in.data        = s_tdata_i;
  assign in.keep        = s_tkeep_i;
  assign in.last        = s_tlast_i;
  assign in.tag         = s_tag_i;
  assign in.slot_starts = beat_q == slot_first_beat;
  assign in.slot_ends   = beat_q == slot_last_beat;
  assign in.slot_lane   = offset[LaneBits-1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_q <= '0;
    end else if (s_tvalid_i && s_tready_o) begin
      offset_q <= offset;
      ipv6_q   <= ipv6;
      beat_q   <= s_tlast_i ? '0 : beat_q + 1'b1;
    end
  end

  beat_t head;
  logic  head_valid, head_ready;
  stream_fifo #(
    .Width($bits(beat_t)),
    .Depth(Depth)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .s_data_i (in),
    .s_valid_i(s_tvalid_i),
    .s_ready_o(s_tready_o),
    .m_data_o (head),
    .m_valid_o(head_valid),
    .m_ready_i(head_ready)
  );

  logic        crc_valid;
  logic [31:0] crc;
  icrc_engine #(
    .DataWidth(DataWidth)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .valid_i    (s_tvalid_i && s_tready_o),
    .data_i     (s_tdata_i),
    .beat_i     (beat_q),
    .layout_i   ('{vlan: 1'b0, ipv6: ipv6}),
    .last_i     (offset - 16'd1),
    .crc_valid_o(crc_valid),
    .crc_o      (crc)
  );

  logic        icrc_room, icrc_valid, icrc_ready;
  logic [31:0] icrc;
  stream_fifo #(
    .Width(32),
    .Depth(Depth)
  ) u_icrcs (
    .clk_i,
    .rst_ni,
    .s_data_i (~crc),
    .s_valid_i(crc_valid),
    .s_ready_o(icrc_room),
    .m_data_o (icrc),
    .m_valid_o(icrc_valid),
    .m_ready_i(icrc_ready)
  );

  // Output: overlay the slot. A slot that began in the previous beat has
  // 1 to 3 bytes there, minus slot_lane modulo 4.
  logic        take;
  logic [1:0]  gone;
  logic [31:0] rest, rest_mask;

  assign take       = !m_tvalid_o || m_tready_i;
  assign gone       = -head.slot_lane[1:0];
  assign rest       = icrc >> {gone, 3'b000};
  assign rest_mask  = 32'hFFFFFFFF >> {gone, 3'b000};
  assign head_ready = take && (icrc_valid || !(head.slot_starts || head.slot_ends));
  assign icrc_ready = take && head_valid && head.slot_ends;

  always_ff @(posedge clk_i) begin
    if (take) begin
      m_tvalid_o <= head_valid && head_ready;
      if (head_valid && head_ready) begin
        m_tdata_o <= head.data;
        m_tkeep_o <= head.keep;
        m_tlast_o <= head.last;
        m_tag_o   <= head.tag;
        if (head.slot_starts) begin
          m_tdata_o <= (head.data & ~(DataWidth'(32'hFFFFFFFF) << {head.slot_lane, 3'b000}))
                     | (DataWidth'(icrc) << {head.slot_lane, 3'b000});
        end else if (head.slot_ends) begin
          m_tdata_o <= (head.data & ~DataWidth'(rest_mask)) | DataWidth'(rest);
        end
      end
    end
    if (!rst_ni) m_tvalid_o <= 1'b0;
  end

  // The slot's beats stay in u_beats until their ICRC is taken, so there are
  // never more ICRCs than beats.
  icrc_has_room: assert property (@(posedge clk_i) disable iff (!rst_ni) crc_valid |-> icrc_room);

  // The slot lies inside its frame, behind the headers it covers.
  slot_in_frame: assert property (@(posedge clk_i) disable iff (!rst_ni)
      s_tvalid_i && s_tlast_i |-> beat_q >= slot_last_beat);

endmodule

`default_nettype wire
