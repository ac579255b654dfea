// SPDX-License-Identifier: BSD-2-Clause
//
// Answers ICMP echo requests, and those of ICMPv6. Every frame is written into the one
// buffer until its last beat, when request_i and header_i say whether it is a request. A
// request is sent back with addresses swapped, TTL 64 and checksums adjusted, its tag
// beside it. The IP length decides how much is returned; Ethernet padding is dropped and
// made anew with zeros. Frames that begin while a reply is leaving, and requests longer
// than EchoBytes, get no answer.
//
// The ICMP checksum is adjusted, not verified: a reply to a request with a
// wrong checksum has a wrong checksum, so its sender will not believe it.

`default_nettype none

module icmp_echo
  import rx_header_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned EchoBytes = 16384,
  localparam int unsigned Lanes    = DataWidth / 8,
  localparam int unsigned LaneBits = $clog2(Lanes),
  localparam int unsigned BeatBits = 16 - LaneBits
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic [47:0]          port_mac_i,

  input  wire logic                 valid_i,
  input  wire logic [DataWidth-1:0] data_i,
  input  wire logic [BeatBits-1:0]  beat_i,
  input  wire logic                 request_i,
  input  wire frame_header_t        header_i,
  input  wire roce_pkg::vlan_tag_t  tag_i,
  input  wire roce_pkg::ipv6_t      ipv6_i,

  output      logic [DataWidth-1:0] m_tdata_o,
  output      logic [Lanes-1:0]     m_tkeep_o,
  output      logic                 m_tvalid_o,
  output      logic                 m_tlast_o,
  output      roce_pkg::vlan_tag_t  m_tag_o,
  input  wire logic                 m_tready_i
);

  localparam int unsigned Words      = EchoBytes / Lanes;
  localparam int unsigned IndexBits  = $clog2(Words);
  localparam int unsigned HeadBits   = 8 * WindowBytes;
  localparam int unsigned HeadBeats  = HeadBits > DataWidth ? HeadBits / DataWidth : 1;
  localparam int unsigned Ipv6RestBits = HeadBits - $bits(roce_pkg::ethernet_t)
                                         - $bits(roce_pkg::ipv6_t);
  localparam logic [15:0] MinFrame   = 16'd60;
  localparam logic [15:0] TagBytes   = 16'd4;
  localparam logic [7:0]  ReplyTtl   = 8'd64;

  if (Words * Lanes != EchoBytes || EchoBytes > 32768) begin : gen_check_size
    $error("icmp_echo: EchoBytes must be whole beats, at most 32768");
  end

  // One's complement addition: the carry comes around.
  function automatic logic [15:0] add_words(logic [15:0] a, logic [15:0] b);
    logic [16:0] sum = 17'(a) + 17'(b);
    return sum[15:0] + 16'(sum[16]);
  endfunction

  // A request that is in the buffer.
  logic          request_q;
  frame_header_t header_q;
  roce_pkg::vlan_tag_t tag_q;

  // The reply's headers and, as the request had them, the data behind.
  ipv4_packet_t  asked, request, reply;
  icmp_t         request_icmp, reply_icmp;
  roce_pkg::ipv6_t request_ipv6_q, reply_ipv6;
  logic            is_ipv6;
  frame_header_t reply_header;

  assign asked        = ipv4_packet_t'(header_i.payload);
  assign request      = ipv4_packet_t'(header_q.payload);
  assign request_icmp = icmp_t'(request.payload);
  assign is_ipv6      = request_ipv6_q.version != '0;

  always_comb begin
    reply_icmp           = request_icmp;
    reply_icmp.icmp_type = 8'd0;
    reply_icmp.checksum  = add_words(request_icmp.checksum, {request_icmp.icmp_type, 8'd0});

    reply                = request;
    reply.payload        = reply_icmp;
    reply.ip.ttl         = ReplyTtl;
    reply.ip.checksum    = add_words(request.ip.checksum,
                                     add_words({request.ip.ttl, 8'd0}, ~{ReplyTtl, 8'd0}));
    reply.ip.src         = request.ip.dst;
    reply.ip.dst         = request.ip.src;

    reply_header                  = header_q;
    reply_header.payload          = reply;
    reply_header.ethernet.src_mac = port_mac_i;
    reply_header.ethernet.dst_mac = header_q.ethernet.src_mac;

    reply_ipv6           = request_ipv6_q;
    reply_ipv6.hop_limit = ReplyTtl;
    reply_ipv6.src       = request_ipv6_q.dst;
    reply_ipv6.dst       = request_ipv6_q.src;
    if (is_ipv6) begin
      reply_icmp.icmp_type = 8'd129;
      reply_icmp.checksum  = add_words(request_icmp.checksum, ~{8'd1, 8'd0});
      reply_header.payload = {reply_ipv6, reply_icmp[$bits(icmp_t)-1-:Ipv6RestBits]};
    end
  end

  logic [15:0] packet_end_q, shortest, frame_end;
  assign shortest  = tag_q.present ? MinFrame - TagBytes : MinFrame;
  assign frame_end = packet_end_q < shortest ? shortest : packet_end_q;

  // What follows a short packet becomes zero.
  window_t reply_head;
  always_comb begin
    reply_head = '0;
    if (request_q) begin
      reply_head = swap_bytes(reply_header);
      for (int unsigned i = 0; i < WindowBytes; i++) begin
        if (16'(i) >= packet_end_q) reply_head[8*i+:8] = '0;
      end
    end
  end

  // Capture, then send.
  logic                 sending_q, capture_q, capture, accept;
  window_t              head_q;
  logic [15:0]          last_position_q;
  logic [BeatBits-1:0]  next_q, beat_q;
  logic                 read, beat_valid_q;
  logic [DataWidth-1:0] words_q [Words];
  logic [DataWidth-1:0] word_q;

  assign capture = beat_i == '0 ? !sending_q && !request_q : capture_q;
  assign accept  = request_q && packet_end_q <= 16'(EchoBytes);
  assign read    = sending_q && next_q <= last_position_q[15:LaneBits]
                && (!beat_valid_q || m_tready_i);

  always_ff @(posedge clk_i) begin
    if (valid_i && capture && beat_i < BeatBits'(Words)) begin
      words_q[beat_i[IndexBits-1:0]] <= data_i;
    end
    if (read) word_q <= words_q[next_q[IndexBits-1:0]];
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) capture_q <= capture;
    request_q    <= rst_ni && request_i && capture;
    header_q     <= header_i;
    tag_q        <= tag_i;
    packet_end_q <= 16'd14 + asked.ip.total_length + (ipv6_i.version != '0 ? 16'd20 : 16'd0);
    request_ipv6_q <= ipv6_i;

    if (accept) begin
      head_q          <= reply_head;
      m_tag_o         <= tag_q;
      last_position_q <= frame_end - 16'd1;
      next_q          <= '0;
    end else if (read) begin
      next_q <= next_q + 1'b1;
      beat_q <= next_q;
    end

    if (!rst_ni) begin
      sending_q    <= 1'b0;
      beat_valid_q <= 1'b0;
    end else begin
      if (accept)                                        sending_q <= 1'b1;
      else if (m_tvalid_o && m_tready_i && m_tlast_o)    sending_q <= 1'b0;
      if (read)            beat_valid_q <= 1'b1;
      else if (m_tready_i) beat_valid_q <= 1'b0;
    end
  end

  assign m_tvalid_o = beat_valid_q;
  assign m_tlast_o  = beat_q == last_position_q[15:LaneBits];
  assign m_tkeep_o  = m_tlast_o ? {Lanes{1'b1}} >> ~last_position_q[LaneBits-1:0] : '1;

  if (DataWidth > HeadBits) begin : gen_wide
    assign m_tdata_o = beat_q == '0 ? {word_q[DataWidth-1:HeadBits], head_q} : word_q;
  end else begin : gen_beats
    always_comb begin
      m_tdata_o = word_q;
      if (beat_q < BeatBits'(HeadBeats)) m_tdata_o = head_q[beat_q*DataWidth+:DataWidth];
    end
  end

endmodule

`default_nettype wire
