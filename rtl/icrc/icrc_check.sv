// SPDX-License-Identifier: BSD-2-Clause
//
// Judges the ICRC of received frames: one verdict per frame, in order, a fixed
// number of cycles after its last beat.
//   is_roce_o  a RoCEv2 packet over IPv4 (no options, no fragment) or IPv6,
//              with no VLAN tag or one
//   ok_o       and its lengths agree with each other and with the frame, and
//              its ICRC is right
// The packet ends where its UDP length says; what follows is not looked at.
// Takes the stream from rx_window.

`default_nettype none

module icrc_check
  import rx_header_pkg::window_t;
  import rx_header_pkg::WindowBytes;
#(
  parameter int unsigned DataWidth = 64,
  localparam int unsigned LaneBits = $clog2(DataWidth / 8),
  localparam int unsigned BeatBits = 16 - LaneBits
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 valid_i,
  input  wire logic [DataWidth-1:0] data_i,
  input  wire logic                 last_i,
  input  wire logic [BeatBits-1:0]  beat_i,
  input  wire window_t              window_i,
  input  wire icrc_pkg::position_t  length_i,
  input  wire logic                 discard_i,

  output      logic                 verdict_valid_o,
  output      logic                 is_roce_o,
  output      logic                 ok_o
);

  localparam int unsigned EngineLatency = 4 + LaneBits;
  localparam int unsigned WindowBeats =
      WindowBytes > DataWidth / 8 ? WindowBytes / (DataWidth / 8) : 1;

  localparam logic [15:0] MinUdpLength = 16'd24;  // UDP header, BTH, ICRC

  // One stage: the headers, as if the frame had no tag, and what goes with them.
  logic                 valid_q, last_q, vlan_q, complete_q, discard_q;
  logic [DataWidth-1:0] data_q;
  logic [BeatBits-1:0]  beat_q;
  icrc_pkg::position_t  length_q;
  window_t              headers_q;

  function automatic logic [15:0] field(window_t window, int unsigned position);
    return {window[8*position+:8], window[8*(position+1)+:8]};
  endfunction

  logic vlan, ipv6, ipv4_roce, ipv6_roce;

  assign vlan = field(window_i, 12) == 16'h8100;
  assign ipv6 = field(headers_q, 12) == 16'h86DD;

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      last_q     <= last_i;
      data_q     <= data_i;
      beat_q     <= beat_i;
      vlan_q     <= vlan;
      complete_q <= int'(beat_i) >= int'(WindowBeats) - 1;
      discard_q  <= discard_i;
      length_q   <= length_i;
      headers_q  <= vlan ? window_i >> 32 : window_i;
    end
    valid_q <= valid_i && rst_ni;
  end

  // Byte 14 and 15: version, IHL, TOS. Byte 22 and 23: TTL, protocol.
  assign ipv4_roce = field(headers_q, 12) == roce_pkg::EtherTypeIpv4
      && headers_q[8*14+:8] == 8'h45
      && (field(headers_q, 20) & 16'h3FFF) == '0
      && headers_q[8*23+:8] == roce_pkg::IpProtoUdp
      && field(headers_q, 36) == roce_pkg::RoceUdpPort;
  assign ipv6_roce = ipv6
      && headers_q[8*14+4+:4] == 4'd6
      && headers_q[8*20+:8] == roce_pkg::IpProtoUdp
      && field(headers_q, 56) == roce_pkg::RoceUdpPort;

  logic [15:0] udp_length, ip_length;  // ip_length: of what follows the IP header
  logic [16:0] packet_last;            // position of the packet's last byte

  assign udp_length  = ipv6 ? field(headers_q, 58) : field(headers_q, 38);
  assign ip_length   = ipv6 ? field(headers_q, 18) : field(headers_q, 16) - 16'd20;
  assign packet_last = 17'(udp_length) + (ipv6 ? 17'd53 : 17'd33) + (vlan_q ? 17'd4 : 17'd0);

  logic is_roce, lengths_ok;

  assign is_roce    = complete_q && (ipv4_roce || ipv6_roce);
  assign lengths_ok = udp_length >= MinUdpLength && udp_length == ip_length
                    && packet_last < 17'(length_q) && !discard_q;

  logic        crc_valid;
  logic [31:0] crc;
  icrc_engine #(
    .DataWidth(DataWidth)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .valid_i    (valid_q),
    .data_i     (data_q),
    .beat_i     (beat_q),
    .layout_i   ('{vlan: vlan_q, ipv6: ipv6}),
    .last_i     (complete_q ? packet_last[15:0] : '1),
    .crc_valid_o(crc_valid),
    .crc_o      (crc)
  );

  // The verdict waits as long as the engine takes for the frame's last beat.
  // A packet whose lengths are right ends in that beat or an earlier one, so
  // the latest CRC is its own.
  logic [EngineLatency-1:0] pending_q, is_roce_pipe_q, lengths_ok_pipe_q;
  logic                     residue_seen, residue_seen_q;

  assign residue_seen    = crc_valid ? crc == icrc_pkg::IcrcResidue : residue_seen_q;
  assign verdict_valid_o = pending_q[EngineLatency-1];
  assign is_roce_o       = is_roce_pipe_q[EngineLatency-1];
  assign ok_o            = is_roce_o && lengths_ok_pipe_q[EngineLatency-1] && residue_seen;

  always_ff @(posedge clk_i) begin
    is_roce_pipe_q    <= {is_roce_pipe_q[EngineLatency-2:0], is_roce};
    lengths_ok_pipe_q <= {lengths_ok_pipe_q[EngineLatency-2:0], lengths_ok};
    residue_seen_q    <= residue_seen;
    pending_q         <= {pending_q[EngineLatency-2:0], valid_q && last_q};
    if (!rst_ni) pending_q <= '0;
  end

endmodule

`default_nettype wire
