// SPDX-License-Identifier: BSD-2-Clause
//
// Reads requests, or responses: takes the stream of rx_window, and what rx_parser makes
// of it one cycle later. With the last beat there, request_o is the request and
// is_request_o says that the frame is one whose headers, payload and pad fill
// the packet exactly, in whole words. Its ICRC is not yet looked at.

`default_nettype none

module request_parser
  import rx_header_pkg::*;
  import request_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter serves_t     Serves    = '0,
  parameter bit          Responses = 1'b0,  // to requests of our own, in their place
  localparam int unsigned Lanes    = DataWidth / 8,
  localparam int unsigned BeatBits = 16 - $clog2(Lanes)
) (
  input  wire logic                 clk_i,
  input  wire logic                 valid_i,
  input  wire logic [DataWidth-1:0] data_i,
  input  wire logic [BeatBits-1:0]  beat_i,

  input  wire frame_kind_t          kind_i,
  input  wire frame_header_t        header_i,
  input  wire roce_pkg::ipv6_t      ipv6_i,
  output      logic                 is_request_o,
  output      request_t             request_o
);

  localparam int unsigned BthEnd         = roce_tx_pkg::BaseHeaderBytes;
  localparam int unsigned ShortestBytes  = roce_tx_pkg::RethBytes + roce_tx_pkg::ImmDtBytes;
  localparam int unsigned ExtensionBytes =
      Serves.atomics ? roce_tx_pkg::AtomicEthBytes : ShortestBytes;
  localparam int unsigned PassedBytes    =
      ExtensionBytes + (Serves.ipv6 ? roce_tx_pkg::Ipv6MoreBytes : 0);
  localparam logic [15:0] FixedBytes     = 16'd24;  // UDP header, BTH, ICRC

  // RETH and ImmDt, AtomicETH, or DETH and ImmDt begin behind what header_i shows: caught as they pass.
  logic [PassedBytes-1:0][7:0]    passed_q;  // the first on the wire is the most significant
  logic [ExtensionBytes-1:0][7:0] passed;
  logic                           is_ipv6;

  assign is_ipv6 = Serves.ipv6 && ipv6_i.version != '0;
  assign passed  = is_ipv6 ? passed_q[ExtensionBytes-1:0]
                           : passed_q[PassedBytes-1-:ExtensionBytes];

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < PassedBytes; i++) begin
      if (valid_i && beat_i == BeatBits'((BthEnd + i) / Lanes)) begin
        passed_q[PassedBytes-1-i] <= data_i[8*((BthEnd+i)%Lanes)+:8];
      end
    end
  end

  ipv4_packet_t packet;
  roce_ack_t    roce;
  operation_t   operation;
  logic [63:0]  swap_or_add, compare;
  logic [31:0]  immediate;
  logic [15:0]  transport_bytes, overhead_bytes;

  assign packet          = ipv4_packet_t'(header_i.payload);
  assign roce            = roce_ack_t'(packet.payload);
  assign operation       = operation_of(roce.bth.opcode);
  assign transport_bytes = roce.udp.length - FixedBytes;
  assign overhead_bytes  = 16'(operation.extension_bytes) + 16'(roce.bth.pad_count);

  assign is_request_o = (kind_i.request || (Responses && kind_i.ack))
      && (operation.kind == KindResponse) == Responses
      && transport_bytes[1:0] == '0 && transport_bytes >= overhead_bytes;

  if (Serves.atomics) begin : gen_atomics
    assign swap_or_add = passed[ExtensionBytes-13-:8];
    assign compare     = passed[ExtensionBytes-21-:8];
  end else begin : gen_no_atomics
    assign swap_or_add = '0;
    assign compare     = '0;
  end

  roce_pkg::deth_t deth;
  roce_pkg::ipv6_t ip;
  logic [127:0]    src_gid;
  assign src_gid = is_ipv6 ? ipv6_i.src
      : roce_pkg::kept_gid({roce_pkg::Ipv4Prefix, packet.ip.src}, 32'(Serves.ipv6));
  assign deth = Serves.datagrams ? passed[ExtensionBytes-1-:8] : '0;
  assign ip   = !Serves.datagrams ? '0 : is_ipv6 ? ipv6_i : {160'd0, packet.ip};

  always_comb begin
    immediate = passed[ExtensionBytes-1-:roce_tx_pkg::ImmDtBytes];
    if (operation.reth) immediate = passed[ExtensionBytes-17-:roce_tx_pkg::ImmDtBytes];
    if (operation.deth) immediate = passed[ExtensionBytes-9-:roce_tx_pkg::ImmDtBytes];
  end

  assign request_o = '{
    opcode:        roce.bth.opcode,
    solicited:     roce.bth.solicited,
    ack_req:       roce.bth.ack_req,
    dest_qpn:      roce.bth.dest_qpn,
    psn:           roce.bth.psn,
    src_gid:       src_gid,
    payload_bytes: transport_bytes - overhead_bytes,
    reth:          passed[ExtensionBytes-1-:roce_tx_pkg::RethBytes],
    swap_or_add:   swap_or_add,
    compare:       compare,
    deth:          deth,
    ip:            ip,
    immediate:     immediate
  };

endmodule

`default_nettype wire
