// SPDX-License-Identifier: BSD-2-Clause
//
// What is answered out of the frame that asks: ARP and ICMP echo requests.

`default_nettype none

module be_aside
  import be_pkg::*;
(
  input  wire logic [47:0] mac_i,
  input  wire logic [31:0] ip_i,
  input  wire frame_e      kind_i,
  input  wire header_t     header_i,
  input  wire logic [15:0] ip_id_i,
  output order_t           order_o,
  input  wire logic [15:0] index_i,  // byte of the answer that is wanted
  input  wire logic [7:0]  byte_i,   // the frame's in its place
  output logic [7:0]       byte_o
);

  logic [223:0] arp;
  logic [47:0]  asking_mac;
  logic [31:0]  asking_ip;
  logic [16:0]  sum;
  logic [15:0]  checksum;

  always_comb begin
    // In ARP they lie where a packet has parts of its IP header, as the ICMP checksum is in
    // the place of a UDP port; an answer's is greater by what its type is less.
    {asking_mac, asking_ip} = {header_i.ttl, header_i.protocol, header_i.ip_checksum,
                               header_i.src_ip, header_i.dst_ip[31:16]};
    arp      = {64'h0001_0800_0604_0002, mac_i, ip_i, asking_mac, asking_ip};
    sum      = {1'b0, header_i.dst_port} + 17'h0800;
    checksum = sum[15:0] + 16'(sum[16]);
    if (kind_i == FrameArp) begin
      byte_o = arp[8*(27-32'(index_i[4:0]))+:8];
    end else begin
      unique case (index_i)
        16'd0:   byte_o = 8'd0;
        16'd2:   byte_o = checksum[15:8];
        16'd3:   byte_o = checksum[7:0];
        default: byte_o = byte_i;
      endcase
    end
  end

  always_comb begin
    order_o        = '0;
    order_o.kind   = kind_i;
    order_o.source = FromAside;
    order_o.mac    = header_i.src_mac;
    order_o.ip     = header_i.src_ip;
    order_o.ttl    = 8'd64;
    order_o.ip_id  = ip_id_i;
    order_o.bytes  = kind_i == FrameArp ? 14'd28 : 14'(header_i.ip_length - 16'd20);
  end

endmodule

`default_nettype wire
