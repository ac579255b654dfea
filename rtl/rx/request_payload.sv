// SPDX-License-Identifier: BSD-2-Clause
//
// Takes the payload out of request packets: the stream of rx_window comes
// in, the payload's beats go out, the first byte in lane 0. What stands behind
// the payload in its last beat is undefined. Nobody has looked at the frame
// yet, so each frame says with its last beat, one cycle later, how many beats
// it has given or will have given in the cycle after: never more than those of
// the longest payload that any path MTU allows.

`default_nettype none

module request_payload
  import rx_header_pkg::window_t;
  import request_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter bit          Ipv6      = 1'b0,
  parameter bit          Responses = 1'b0,  // of responses, not of requests
  localparam int unsigned Lanes     = DataWidth / 8,
  localparam int unsigned LaneBits  = $clog2(Lanes),
  localparam int unsigned BeatBits  = 16 - LaneBits,
  localparam int unsigned CountBits = $clog2(MaxPayload / Lanes + 1)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 valid_i,
  input  wire logic [DataWidth-1:0] data_i,
  input  wire logic                 last_i,
  input  wire logic [BeatBits-1:0]  beat_i,
  input  wire window_t              window_i,

  output      logic                 valid_o,
  output      logic [DataWidth-1:0] data_o,
  output      logic [CountBits-1:0] frame_beats_o
);

  localparam logic [15:0] FixedBytes = 16'd24;  // UDP header, BTH, ICRC

  typedef logic [CountBits-1:0] count_t;

  function automatic logic [15:0] field(window_t window, int unsigned position);
    return {window[8*position+:8], window[8*(position+1)+:8]};
  endfunction

  // Where the payload begins and how long it is, as soon as the BTH is there:
  // that is never behind the payload's first beat.
  window_t             from_udp;  // with the UDP header in its place over IPv4
  operation_t          operation;
  logic                is_ipv6, is_udp;
  logic [6:0]          start;
  logic [15:0]         behind_bth, overhead, payload_bytes;
  logic                is_roce;
  count_t              wanted;
  logic [BeatBits-1:0] start_beat;

  assign is_ipv6       = Ipv6 && field(window_i, 12) == roce_pkg::EtherTypeIpv6;
  assign is_udp        = is_ipv6 ? window_i[8*20+:8] == roce_pkg::IpProtoUdp
      : field(window_i, 12) == roce_pkg::EtherTypeIpv4 && window_i[8*23+:8] == roce_pkg::IpProtoUdp;
  assign from_udp      = is_ipv6 ? window_i >> (8 * roce_tx_pkg::Ipv6MoreBytes) : window_i;
  assign operation     = operation_of(from_udp[8*42+:8]);
  assign start         = 7'(roce_tx_pkg::BaseHeaderBytes) + 7'(operation.extension_bytes)
      + (is_ipv6 ? 7'(roce_tx_pkg::Ipv6MoreBytes) : 7'd0);
  assign start_beat    = BeatBits'(16'(start) >> LaneBits);
  assign overhead      = 16'(operation.extension_bytes) + 16'(from_udp[8*43+4+:2]);
  assign behind_bth    = field(from_udp, 38) - FixedBytes;
  assign payload_bytes = behind_bth - overhead;
  assign is_roce       = is_udp && field(from_udp, 36) == roce_pkg::RoceUdpPort
      && is_served_opcode(from_udp[8*42+:8]) && (operation.kind == KindResponse) == Responses
      && field(from_udp, 38) >= FixedBytes && behind_bth >= overhead;

  always_comb begin
    wanted = count_t'((17'(payload_bytes) + 17'(Lanes - 1)) >> LaneBits);
    if (payload_bytes > 16'(MaxPayload)) wanted = count_t'(MaxPayload / Lanes);
    if (!is_roce) wanted = '0;
  end

  logic                 valid_q, last_q, begun_q, whole_q, rest_q;
  logic [DataWidth-1:0] data_q, before_q;
  logic [LaneBits-1:0]  lane_q, rest_lane_q;
  count_t               wanted_q, given_q;

  logic gives, has_rest;
  assign gives         = valid_q && whole_q && given_q < wanted_q;
  assign has_rest      = valid_q && last_q && begun_q && given_q + count_t'(gives) < wanted_q;
  assign frame_beats_o = given_q + count_t'(gives) + count_t'(has_rest);

  // The last bytes of a frame go out while the next one's first beat comes in,
  // which has no payload to give yet.
  assign valid_o = gives || rest_q;
  assign data_o  = rest_q ? before_q >> {rest_lane_q, 3'b000}
                          : DataWidth'({data_q, before_q} >> {lane_q, 3'b000});

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      data_q   <= data_i;
      last_q   <= last_i;
      lane_q   <= start[LaneBits-1:0];
      wanted_q <= wanted;
      begun_q  <= beat_i >= start_beat;
      whole_q  <= beat_i > start_beat;
    end
    if (valid_q) before_q <= data_q;
    rest_lane_q <= lane_q;
    valid_q     <= valid_i;
    rest_q      <= has_rest;
    if (valid_q) given_q <= last_q ? '0 : given_q + count_t'(gives);
    if (!rst_ni) begin
      valid_q <= 1'b0;
      rest_q  <= 1'b0;
      given_q <= '0;
    end
  end

  one_beat_at_a_time: assert property (@(posedge clk_i) disable iff (!rst_ni) !(gives && rest_q));

endmodule

`default_nettype wire
