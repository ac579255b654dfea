// SPDX-License-Identifier: BSD-2-Clause
//
// Joins headers and aligned payload into frames of their final length: header,
// payload, then zeros for the IB pad, the ICRC slot and the Ethernet pad. One
// beat per cycle with none lost between frames. m_icrc_offset_o gives the
// place of the slot and is constant over a frame, as are m_ipv6_o and m_tag_o. A frame
// marked `discard` consumes its payload and sends nothing.

`default_nettype none

module packet_assembler
  import roce_tx_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Ipv6      = 0,
  parameter int unsigned Reads     = 0   // 1: there are AtomicETHs
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic                   frame_valid_i,
  output logic                        frame_ready_o,
  input  wire frame_t                 frame_i,
  input  wire logic [DataWidth-1:0]   payload_tdata_i,
  input  wire logic                   payload_tvalid_i,
  output logic                        payload_tready_o,
  output logic      [DataWidth-1:0]   m_tdata_o,
  output logic      [DataWidth/8-1:0] m_tkeep_o,
  output logic                        m_tvalid_o,
  output logic                        m_tlast_o,
  input  wire logic                   m_tready_i,
  output logic      [13:0]            m_icrc_offset_o,
  output logic                        m_ipv6_o,
  output roce_pkg::vlan_tag_t         m_tag_o
);

  localparam int unsigned Lanes     = DataWidth / 8;
  localparam int unsigned LaneBits  = $clog2(Lanes);
  localparam int unsigned HeaderBytes = MaxHeaderBytes - (Ipv6 != 0 ? 0 : Ipv6MoreBytes)
      - (Reads != 0 ? 0 : OriginalBytes);
  localparam int unsigned StoreBits = (HeaderBytes + Lanes - 1) / Lanes * DataWidth;
  localparam int unsigned BeatBits  = 14 - LaneBits;
  localparam int unsigned CountBits = 33 - LaneBits;

  typedef logic [BeatBits-1:0]  beats_t;
  typedef logic [CountBits-1:0] count_t;

  beats_t                 beats_q;          // beats of the frame still to give
  logic [3:0]             headers_q;        // of those, without payload
  count_t                 payloads_q;       // payload beats still to take
  extensions_t            extensions_q;
  roce_pkg::vlan_tag_t    tag_q;
  logic                   begun_q;          // beats_q is not zero
  logic                   last_q;           // beats_q is one
  logic                   in_headers_q;     // headers_q is not zero
  logic                   has_payload_q;    // payloads_q is not zero
  logic [LaneBits-1:0]    tail_q;           // bytes in the last beat, 0 is all
  logic [13:0]            icrc_offset_q;
  logic [StoreBits-1:0]   store_q;          // header, later payload, for the beats to come
  logic [StoreBits-1:0]   header_lanes;
  logic [2*DataWidth-1:0] shifted;
  logic [3:0]             headers;          // of the frame that comes
  logic                   room;
  logic                   takes_payload;
  logic                   step;
  logic                   give;
  logic                   load;

  assign room             = !m_tvalid_o || m_tready_i;
  assign takes_payload    = has_payload_q && !in_headers_q;
  assign step             = takes_payload ? payload_tvalid_i && (room || !begun_q)
                                          : room && begun_q;
  assign give             = step && begun_q;
  assign payload_tready_o = step && takes_payload;
  assign frame_ready_o    = begun_q ? give && last_q : !has_payload_q;
  assign load             = frame_valid_i && frame_ready_o;
  assign headers          = 4'(header_bytes(frame_i.extensions) >> LaneBits);

  // Stream order: the first header byte in the lowest lane.
  always_comb begin
    header_lanes = '0;
    if (load) begin
      for (int unsigned i = 0; i < HeaderBytes; i++) begin
        header_lanes[8*i+:8] = frame_i.header[8*(MaxHeaderBytes-1-i)+:8];
      end
    end
  end

  // Payload goes behind the header bytes that share its first beat.
  localparam int unsigned ShiftPlain     = 8 * (BaseHeaderBytes % Lanes);
  localparam int unsigned ShiftImmDt     = 8 * ((BaseHeaderBytes + ImmDtBytes) % Lanes);
  localparam int unsigned ShiftReth      = 8 * ((BaseHeaderBytes + RethBytes) % Lanes);
  localparam int unsigned ShiftDeth      = 8 * ((BaseHeaderBytes + DethBytes) % Lanes);
  localparam int unsigned ShiftDethImmDt = 8 * ((BaseHeaderBytes + DethBytes + ImmDtBytes) % Lanes);
  localparam int unsigned ShiftRethImmDt = 8 * ((BaseHeaderBytes + RethBytes + ImmDtBytes) % Lanes);

  function automatic int unsigned ipv6_shift(int unsigned extension_bytes);
    return 8 * ((BaseHeaderBytes + Ipv6MoreBytes + extension_bytes) % Lanes);
  endfunction

  always_comb begin
    shifted = '0;
    if (takes_payload && step) begin
      unique case ({extensions_q.reth, extensions_q.immdt})
        2'b00: shifted = {DataWidth'(0), payload_tdata_i} << ShiftPlain;
        2'b01: shifted = {DataWidth'(0), payload_tdata_i} << ShiftImmDt;
        2'b10: shifted = {DataWidth'(0), payload_tdata_i} << ShiftReth;
        2'b11: shifted = {DataWidth'(0), payload_tdata_i} << ShiftRethImmDt;
      endcase
      if (extensions_q.deth) begin
        shifted = {DataWidth'(0), payload_tdata_i} << (extensions_q.immdt ? ShiftDethImmDt : ShiftDeth);
      end
      if (Ipv6 != 0 && extensions_q.ipv6) begin
        unique case ({extensions_q.reth, extensions_q.immdt})
          2'b00: shifted = {DataWidth'(0), payload_tdata_i} << ipv6_shift(0);
          2'b01: shifted = {DataWidth'(0), payload_tdata_i} << ipv6_shift(ImmDtBytes);
          2'b10: shifted = {DataWidth'(0), payload_tdata_i} << ipv6_shift(RethBytes);
          2'b11: shifted = {DataWidth'(0), payload_tdata_i} << ipv6_shift(RethBytes + ImmDtBytes);
        endcase
        if (extensions_q.deth) begin
          shifted = {DataWidth'(0), payload_tdata_i}
              << (extensions_q.immdt ? ipv6_shift(DethBytes + ImmDtBytes) : ipv6_shift(DethBytes));
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_q       <= 1'b0;
      has_payload_q <= 1'b0;
      m_tvalid_o    <= 1'b0;
    end else begin
      if (m_tready_i) m_tvalid_o <= 1'b0;
      if (payload_tready_o) begin
        payloads_q    <= payloads_q - 1'b1;
        has_payload_q <= payloads_q != count_t'(1);
      end
      if (give) begin
        beats_q         <= beats_q - 1'b1;
        begun_q         <= !last_q;
        last_q          <= beats_q == beats_t'(2);
        m_tvalid_o      <= 1'b1;
        m_tdata_o       <= store_q[DataWidth-1:0] | shifted[DataWidth-1:0];
        m_tkeep_o       <= last_q && tail_q != '0 ? ~({Lanes{1'b1}} << tail_q) : '1;
        m_tlast_o       <= last_q;
        m_icrc_offset_o <= icrc_offset_q;
        m_ipv6_o        <= Ipv6 != 0 && extensions_q.ipv6;
        m_tag_o         <= tag_q;
        if (in_headers_q) begin
          headers_q    <= headers_q - 1'b1;
          in_headers_q <= headers_q != 4'd1;
          store_q      <= store_q >> DataWidth;
        end else begin
          store_q <= StoreBits'(shifted[2*DataWidth-1:DataWidth]);
        end
      end
      if (load) begin
        begun_q       <= !frame_i.discard;
        last_q        <= frame_i.frame_bytes <= 14'(Lanes);
        beats_q       <= beats_t'((frame_i.frame_bytes + 14'(Lanes - 1)) >> LaneBits);
        headers_q     <= headers;
        in_headers_q  <= !frame_i.discard && headers != '0;
        payloads_q    <= count_t'((33'(frame_i.payload_bytes) + 33'(Lanes - 1)) >> LaneBits);
        has_payload_q <= frame_i.payload_bytes != '0;
        extensions_q  <= frame_i.extensions;
        tag_q         <= frame_i.tag;
        tail_q        <= frame_i.frame_bytes[LaneBits-1:0];
        icrc_offset_q <= frame_i.icrc_offset;
        store_q       <= header_lanes;
      end
    end
  end

  assert_output_holds: assert property (@(posedge clk_i) disable iff (!rst_ni)
      m_tvalid_o && !m_tready_i |=> m_tvalid_o && $stable(
          {m_tdata_o, m_tkeep_o, m_tlast_o, m_icrc_offset_o, m_ipv6_o, m_tag_o}))
  else $error("a beat of a frame changed while it waited");

  assert_payload_used: assert property (@(posedge clk_i) disable iff (!rst_ni)
      give && last_q |-> has_payload_q == takes_payload
                       && (!takes_payload || payloads_q == count_t'(1)))
  else $error("a frame ended before its payload");

endmodule

`default_nettype wire
