// SPDX-License-Identifier: BSD-2-Clause
//
// Sends one frame as ordered, byte by byte: headers, payload from where the order
// says, pad, ICRC, and zeros up to 60 bytes.

`default_nettype none

module be_transmitter
  import be_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [47:0] mac_i,
  input  wire logic [31:0] ip_i,
  input  wire logic        start_i,  // with the order, which stays until done
  input  wire order_t      order_i,
  output logic             done_o,   // the last byte leaves
  output logic [15:0]      index_o,  // byte of the source that is wanted
  input  wire logic [7:0]  aside_i,
  input  wire logic [7:0]  message_i,
  input  wire logic [7:0]  mad_i,
  output logic [7:0]       tdata_o,
  output logic             tvalid_o,
  output logic             tlast_o,
  input  wire logic        tready_i
);

  typedef enum logic [2:0] { Idle, Headers, Payload, Pad, Icrc, Fill } state_e;

  state_e      state_q, next;
  logic [15:0] count_q;   // bytes of the frame that have left
  logic [13:0] part_q;    // bytes of this part that have left
  logic [31:0] crc;
  header_t     header;
  logic [8*HeaderBytes-1:0] head_q;  // what is left of them
  logic [6:0]  head_bytes;
  logic [1:0]  pad;
  logic        is_roce, moves, part_ends;

  function automatic logic [15:0] checksum(input logic [159:0] words);
    logic [19:0] sum = '0;
    logic [16:0] folded;
    for (int i = 0; i < 10; i++) sum += {4'd0, words[16*i+:16]};
    folded = {1'b0, sum[15:0]} + {13'd0, sum[19:16]};
    return ~(folded[15:0] + {15'd0, folded[16]});
  endfunction

  always_comb begin
    is_roce = order_i.kind == FrameRoce;
    pad     = is_roce ? 2'd0 - order_i.bytes[1:0] : 2'd0;
    header              = '0;
    header.dst_mac      = order_i.mac;
    header.src_mac      = mac_i;
    header.ethertype    = order_i.kind == FrameArp ? 16'h0806 : 16'h0800;
    header.version      = 8'h45;
    header.tos          = order_i.tos;
    header.ip_length    = 16'd20 + 16'(order_i.bytes)
                        + (is_roce ? 16'd24 + 16'(order_i.ext_bytes) + 16'(pad) : 16'd0);
    header.ip_id        = order_i.ip_id;
    header.fragment     = 16'h4000;
    header.ttl          = order_i.ttl;
    header.protocol     = is_roce ? 8'd17 : 8'd1;
    header.src_ip       = ip_i;
    header.dst_ip       = order_i.ip;
    header.ip_checksum  = checksum({header.version, header.tos, header.ip_length, header.ip_id,
                                    header.fragment, header.ttl, header.protocol, 16'd0,
                                    header.src_ip, header.dst_ip});
    header.src_port     = order_i.sport;
    header.dst_port     = RocePort;
    header.udp_length   = header.ip_length - 16'd20;
    header.opcode       = order_i.opcode;
    header.solicited    = order_i.solicited;
    header.migrated     = 1'b1;
    header.pad          = pad;
    header.pkey         = '1;
    header.qpn          = order_i.qpn;
    header.ack_request  = order_i.ack_request;
    header.psn          = order_i.psn;
    header.ext          = order_i.ext;
    unique case (order_i.kind)
      FrameRoce: head_bytes = 7'd54 + 7'(order_i.ext_bytes);
      FrameEcho: head_bytes = 7'd34;
      default:   head_bytes = 7'd14;
    endcase
  end

  always_comb begin
    tdata_o   = 8'd0;
    part_ends = 1'b1;
    unique case (state_q)
      Headers: begin
        tdata_o   = head_q[8*HeaderBytes-1-:8];
        part_ends = part_q + 14'd1 == 14'(head_bytes);
      end
      Payload: begin
        unique case (order_i.source)
          FromAside:   tdata_o = aside_i;
          FromMessage: tdata_o = message_i;
          FromMad:     tdata_o = mad_i;
          default: ;
        endcase
        part_ends = part_q + 14'd1 == order_i.bytes;
      end
      Pad:  part_ends = part_q + 14'd1 == 14'(pad);
      Icrc: begin
        tdata_o   = ~crc[8*part_q[1:0]+:8];
        part_ends = part_q == 14'd3;
      end
      Fill: part_ends = count_q == 16'd59;
      default: ;
    endcase
    // The next part that is not empty.
    next = state_q;
    if (next == Headers) next = Payload;
    else if (next == Payload) next = Pad;
    else if (next == Pad) next = Icrc;
    else if (next == Icrc) next = Fill;
    else next = Idle;
    if (next == Payload && order_i.bytes == 0) next = Pad;
    if (next == Pad && pad == 0) next = Icrc;
    if (next == Icrc && !is_roce) next = Fill;
    if (next == Fill && count_q >= 16'd59) next = Idle;
  end

  assign tvalid_o = state_q != Idle;
  assign tlast_o  = part_ends && next == Idle;
  assign moves    = tvalid_o && tready_i;
  assign done_o   = moves && tlast_o;
  assign index_o  = order_i.first + 16'(part_q);

  be_icrc u_icrc (
    .clk_i,
    .clear_i (count_q < 16'd14),
    .valid_i (moves && state_q inside {Headers, Payload, Pad}),
    .masked_i(count_q inside {15, 22, 24, 25, 40, 41, 46}),
    .byte_i  (tdata_o),
    .crc_o   (crc)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      count_q <= '0;
      part_q  <= '0;
    end else if (state_q == Idle) begin
      count_q <= '0;
      part_q  <= '0;
      head_q  <= header;
      if (start_i) state_q <= Headers;
    end else if (moves) begin
      count_q <= count_q + 16'd1;
      head_q  <= head_q << 8;
      part_q  <= part_ends ? '0 : part_q + 14'd1;
      if (part_ends) state_q <= next;
    end
  end

endmodule

`default_nettype wire
