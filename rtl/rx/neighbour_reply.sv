// SPDX-License-Identifier: BSD-2-Clause
//
// Answers neighbour solicitations: an advertisement of the port's MAC address to
// the station that asked, or to all where a station that has no address yet asks
// (RFC 4861), with the tag of the solicitation beside it. A solicitation that comes while
// an answer is waiting to leave is dropped; the asker repeats it. Its checksum is not
// looked at.

`default_nettype none

module neighbour_reply
  import roce_pkg::*;
  import rx_header_pkg::*;
#(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [127:0]           port_ipv6_i,

  input  wire logic                   request_i,
  input  wire logic [47:0]            asker_mac_i,
  input  wire logic [127:0]           asker_ipv6_i,
  input  wire vlan_tag_t              tag_i,

  output      logic [DataWidth-1:0]   m_tdata_o,
  output      logic [DataWidth/8-1:0] m_tkeep_o,
  output      logic                   m_tvalid_o,
  output      logic                   m_tlast_o,
  output      vlan_tag_t              m_tag_o,
  input  wire logic                   m_tready_i
);

  typedef struct packed {
    logic         router;
    logic         solicited;
    logic         overrides;
    logic [28:0]  reserved;
    logic [127:0] target;
    logic [15:0]  option;      // target link-layer address, of eight bytes
    logic [47:0]  target_mac;
  } advertisement_t;

  typedef struct packed {
    ethernet_t      ethernet;
    ipv6_t          ip;
    logic [15:0]    type_code;
    logic [15:0]    checksum;
    advertisement_t body;
  } reply_t;

  localparam int unsigned FrameBytes = $bits(reply_t) / 8;
  localparam int unsigned Lanes      = DataWidth / 8;
  localparam int unsigned Beats      = (FrameBytes + Lanes - 1) / Lanes;
  localparam int unsigned BeatBits   = Beats > 1 ? $clog2(Beats) : 1;
  localparam int unsigned LastBytes  = FrameBytes - (Beats - 1) * Lanes;

  localparam logic [127:0] AllNodes    = {16'hFF02, 104'd0, 8'h01};
  localparam logic [47:0]  AllNodesMac = 48'h3333_0000_0001;

  logic                summing_q;
  logic                has_asker_q;   // otherwise it had no address
  logic [47:0]         asker_mac_q;
  logic [127:0]        asker_ipv6_q;
  logic [BeatBits-1:0] beat_q;
  logic [21:0]         sum, sum_q;
  reply_t              reply;
  logic [32:0][15:0]   words;         // that the checksum covers

  function automatic logic [15:0] folded(logic [21:0] total);
    logic [16:0] once;
    once = 17'(total[15:0]) + 17'(total[21:16]);
    return once[15:0] + 16'(once[16]);
  endfunction

  always_comb begin
    reply                     = '0;
    reply.ethernet.dst_mac    = asker_mac_q;
    reply.ethernet.src_mac    = port_mac_i;
    reply.ethernet.ether_type = EtherTypeIpv6;
    reply.ip.version          = 4'd6;
    reply.ip.payload_length   = 16'(FrameBytes - ($bits(ethernet_t) + $bits(ipv6_t)) / 8);
    reply.ip.next_header      = IpProtoIcmpv6;
    reply.ip.hop_limit        = 8'd255;
    reply.ip.src              = port_ipv6_i;
    reply.ip.dst              = asker_ipv6_q;
    reply.type_code           = {8'd136, 8'd0};
    reply.body.solicited      = has_asker_q;
    reply.body.overrides      = 1'b1;
    reply.body.target         = port_ipv6_i;
    reply.body.option         = {8'd2, 8'd1};
    reply.body.target_mac     = port_mac_i;
    reply.checksum            = ~folded(sum_q);

    words = {reply.ip.src, reply.ip.dst, reply.ip.payload_length, 8'd0, reply.ip.next_header,
             reply.type_code, reply.body};
    sum   = '0;
    foreach (words[i]) sum += 22'(words[i]);
  end

  // As many whole beats as the frame takes, the first byte in the lowest lane.
  logic [Beats*DataWidth-1:0] frame;
  always_comb begin
    frame = '0;
    for (int unsigned i = 0; i < FrameBytes; i++) begin
      frame[8*i+:8] = reply[8*(FrameBytes-1-i)+:8];
    end
  end

  assign m_tlast_o = beat_q == BeatBits'(Beats - 1);
  assign m_tkeep_o = m_tlast_o ? {Lanes{1'b1}} >> (Lanes - LastBytes) : '1;
  assign m_tdata_o = frame[beat_q*DataWidth+:DataWidth];

  always_ff @(posedge clk_i) begin
    sum_q <= sum;
    if (!rst_ni) begin
      summing_q  <= 1'b0;
      m_tvalid_o <= 1'b0;
    end else if (m_tvalid_o) begin
      if (m_tready_i) begin
        m_tvalid_o <= !m_tlast_o;
        beat_q     <= beat_q + 1'b1;
      end
    end else begin
      summing_q  <= request_i && !summing_q;
      m_tvalid_o <= summing_q;
      if (request_i && !summing_q) begin
        beat_q       <= '0;
        m_tag_o      <= tag_i;
        has_asker_q  <= asker_ipv6_i != '0;
        asker_mac_q  <= asker_ipv6_i != '0 ? asker_mac_i : AllNodesMac;
        asker_ipv6_q <= asker_ipv6_i != '0 ? asker_ipv6_i : AllNodes;
      end
    end
  end

endmodule

`default_nettype wire
