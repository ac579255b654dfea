// SPDX-License-Identifier: BSD-2-Clause
//
// Takes one frame whole, looks at what every station looks at, and holds it until
// it is released. What is not for this port, or damaged, is released at once.

`default_nettype none

module be_receiver
  import be_pkg::*;
#(
  parameter int FrameBytes = 16384
) (
  input  wire logic                          clk_i,
  input  wire logic                          rst_ni,
  input  wire logic [47:0]                   mac_i,
  input  wire logic [31:0]                   ip_i,
  input  wire logic [7:0]                    tdata_i,
  input  wire logic                          tvalid_i,
  input  wire logic                          tlast_i,
  input  wire logic                          tuser_i,
  output logic                               tready_o,
  output frame_e                             kind_o,     // FrameNone: nothing is held
  output header_t                            header_o,
  output logic [15:0]                        payload_o,  // bytes of it, for RoCE
  input  wire logic                          release_i,
  input  wire logic [$clog2(FrameBytes)-1:0] index_i,
  output logic [7:0]                         byte_o
);

  localparam logic [15:0] Eth = 16'd14, Ip = 16'd20;

  typedef enum logic [1:0] { Filling, Checking, Held } state_e;

  state_e state_q;
  logic [7:0]  frame_q [FrameBytes];
  logic [15:0] count_q;      // bytes taken
  logic        too_long_q, damaged_q;
  logic [8*HeaderBytes-1:0] header_q;
  logic [19:0] ip_sum_q, echo_sum_q;
  logic [7:0]  above_q;      // the byte before this one
  logic [31:0] crc;

  assign header_o = header_q;
  assign tready_o = state_q == Filling;
  assign byte_o   = frame_q[index_i];

  logic take, is_inside, is_masked;
  assign take      = tvalid_i && tready_o;
  assign is_inside = count_q >= Eth && (count_q < Eth + 16'd4 || count_q < Eth + header_o.ip_length);
  assign is_masked = count_q inside {15, 22, 24, 25, 40, 41, 46};

  be_icrc u_icrc (
    .clk_i,
    .clear_i (!rst_ni || count_q == 0),
    .valid_i (take && is_inside),
    .masked_i(is_masked),
    .byte_i  (tdata_i),
    .crc_o   (crc)
  );

  function automatic logic is_ones(input logic [19:0] sum);
    logic [16:0] folded = {1'b0, sum[15:0]} + {13'd0, sum[19:16]};
    return folded[15:0] + {15'd0, folded[16]} == '1;
  endfunction

  // Ones' complement sums, a carry at a time.
  function automatic logic [19:0] added(input logic [19:0] sum, input logic [15:0] word);
    return {4'd0, sum[15:0]} + {16'd0, sum[19:16]} + {4'd0, word};
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
    end else if (state_q == Filling) begin
      if (take) begin
        frame_q[count_q[$clog2(FrameBytes)-1:0]] <= tdata_i;
        if (count_q < 16'(HeaderBytes)) header_q[8*(HeaderBytes-1-32'(count_q))+:8] <= tdata_i;
        above_q <= tdata_i;
        if (count_q[0]) begin
          if (count_q < Eth + Ip) ip_sum_q <= added(ip_sum_q, {above_q, tdata_i});
          else if (is_inside) echo_sum_q <= added(echo_sum_q, {above_q, tdata_i});
        end else if (count_q == Eth) begin
          ip_sum_q   <= '0;
          echo_sum_q <= '0;
        end else if (count_q >= Eth + Ip && count_q + 16'd1 == Eth + header_o.ip_length) begin
          echo_sum_q <= added(echo_sum_q, {tdata_i, 8'd0});
        end
        if (32'(count_q) == FrameBytes - 1) too_long_q <= 1'b1;
        else count_q <= count_q + 16'd1;
        damaged_q <= tlast_i && (tuser_i || too_long_q);
      end
    end else if (state_q == Held && (release_i || kind_o == FrameNone)) begin
      count_q    <= '0;
      too_long_q <= 1'b0;
    end
  end

  logic is_for_us, is_ipv4, is_arp, is_echo, is_roce;
  logic [15:0] headers;
  always_comb begin
    is_for_us = header_o.dst_mac == mac_i;
    is_ipv4   = is_for_us && header_o.ethertype == 16'h0800 && header_o.version == 8'h45
             && is_ones(ip_sum_q) && header_o.fragment[13:0] == 0 && header_o.dst_ip == ip_i
             && 17'(header_o.ip_length) + 17'(Eth) <= 17'(count_q) && header_o.ip_length >= 28;
    is_echo   = is_ipv4 && header_o.protocol == 8'd1 && header_o.src_port == 16'h0800
             && is_ones(echo_sum_q);
    headers   = 16'd44 + 16'(ext_bytes_of(header_o.opcode)) + 16'(header_o.pad);
    is_roce   = is_ipv4 && header_o.protocol == 8'd17 && header_o.dst_port == RocePort
             && header_o.udp_length == header_o.ip_length - Ip
             && header_o.ip_length >= headers && header_o.ip_length[1:0] == 0
             && header_o.version_iba == 0 && header_o.pkey[14:0] == '1
             && crc == 32'hDEBB_20E3;
    // Behind the Ethernet header lie 28 bytes: types, sizes, question, and two pairs of addresses.
    is_arp    = (is_for_us || header_o.dst_mac == EveryMac) && header_o.ethertype == 16'h0806
             && count_q >= 42 && header_q[8*(HeaderBytes-22)+:64] == 64'h0001_0800_0604_0001
             && header_q[8*(HeaderBytes-42)+:32] == ip_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Filling;
      kind_o  <= FrameNone;
    end else begin
      unique case (state_q)
        Filling: if (take && tlast_i) state_q <= Checking;
        Checking: begin
          state_q   <= Held;
          payload_o <= header_o.ip_length - headers;
          if (damaged_q) kind_o <= FrameNone;
          else if (is_roce) kind_o <= FrameRoce;
          else if (is_echo) kind_o <= FrameEcho;
          else kind_o <= is_arp ? FrameArp : FrameNone;
        end
        default: begin
          if (release_i || kind_o == FrameNone) begin
            state_q <= Filling;
            kind_o  <= FrameNone;
          end
        end
      endcase
    end
  end

endmodule

`default_nettype wire
