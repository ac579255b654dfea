// SPDX-License-Identifier: BSD-2-Clause
//
// Turns the beats of a frame into what the ICRC's CRC-32 sees, starting from a
// register of zero:
//   * bytes before the IP header and behind position last_i become zero,
//   * variant header fields become ones (IPv4: TOS, TTL, checksum; IPv6:
//     traffic class, flow label, hop limit; UDP checksum; BTH byte 4),
//   * the register that the eight leading 0xFF bytes would leave is added to
//     the first four covered bytes.
// One register stage; data_o keeps its value while enable_i is low.

`default_nettype none

module icrc_mask #(
  parameter int unsigned DataWidth = 64,
  localparam int unsigned LaneBits = $clog2(DataWidth / 8),
  localparam int unsigned BeatBits = $bits(icrc_pkg::position_t) - LaneBits
) (
  input  wire logic                 clk_i,
  input  wire logic                 enable_i,
  input  wire logic [DataWidth-1:0] data_i,
  input  wire logic [BeatBits-1:0]  beat_i,
  input  wire icrc_pkg::layout_t    layout_i,
  input  wire icrc_pkg::position_t  last_i,
  output      logic [DataWidth-1:0] data_o
);

  // Everything special about a position lies in the first 71 bytes: BTH byte 4
  // of a tagged IPv6 packet is the last of it.
  localparam int unsigned HeadBeats = (8 * 71 + DataWidth - 1) / DataWidth;
  localparam int unsigned HeadBits  = HeadBeats * DataWidth;

  typedef logic [HeadBits-1:0] head_t;

  function automatic head_t byte_at(int unsigned position);
    return head_t'(8'hFF) << (8 * position);
  endfunction

  // Relative to the first byte of the IP header.
  localparam head_t Ipv4Variant = byte_at(1) | byte_at(8) | byte_at(10) | byte_at(11)
                                | byte_at(26) | byte_at(27)
                                | byte_at(32);
  localparam head_t Ipv6Variant = head_t'(8'h0F) | byte_at(1) | byte_at(2) | byte_at(3)
                                | byte_at(7)
                                | byte_at(46) | byte_at(47)
                                | byte_at(52);

  localparam int unsigned UntaggedShift = 8 * 14;
  localparam int unsigned TaggedShift   = 8 * 18;

  // Indexed by layout_t {vlan, ipv6}, and the latter two by layout_t.vlan.
  localparam logic [3:0][HeadBits-1:0] Variant = {
    Ipv6Variant << TaggedShift, Ipv4Variant << TaggedShift,
    Ipv6Variant << UntaggedShift, Ipv4Variant << UntaggedShift};
  localparam logic [1:0][HeadBits-1:0] Covered = {
    {HeadBits{1'b1}} << TaggedShift, {HeadBits{1'b1}} << UntaggedShift};
  localparam logic [1:0][HeadBits-1:0] Seed = {
    head_t'(icrc_pkg::IcrcSeed) << TaggedShift, head_t'(icrc_pkg::IcrcSeed) << UntaggedShift};

  // One constant mask for each beat and layout.
  logic [DataWidth-1:0] headers;
  always_comb begin
    headers = data_i;
    if (enable_i && beat_i < BeatBits'(HeadBeats)) begin
      for (int unsigned beat = 0; beat < HeadBeats; beat++) begin
        for (int unsigned layout = 0; layout < 4; layout++) begin
          if (beat_i == BeatBits'(beat) && layout_i == 2'(layout)) begin
            headers = ((data_i & Covered[layout/2][DataWidth*beat+:DataWidth])
                       | Variant[layout][DataWidth*beat+:DataWidth])
                    ^ Seed[layout/2][DataWidth*beat+:DataWidth];
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      if (beat_i < last_i[$bits(last_i)-1:LaneBits]) begin
        data_o <= headers;
      end else if (beat_i == last_i[$bits(last_i)-1:LaneBits]) begin
        data_o <= headers & ({DataWidth{1'b1}} >> {~last_i[LaneBits-1:0], 3'b000});
      end else begin
        data_o <= '0;
      end
    end
  end

endmodule

`default_nettype wire
