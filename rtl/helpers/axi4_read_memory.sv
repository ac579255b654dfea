// SPDX-License-Identifier: BSD-2-Clause
//
// Reads of an AXI4 master as commands to memory: one for each burst, of just
// the bytes that it asks for, and R in the order of AR. Lanes that a beat does
// not ask for are ones, lest a core come to rely on them. At equal widths a
// beat of the bus's size moves in every cycle.

`default_nettype none

module axi4_read_memory
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth   = 64,
  parameter int unsigned BusWidth    = 64,
  parameter int unsigned AddrWidth   = 64,
  parameter int unsigned IdWidth     = 4,
  parameter int unsigned Outstanding = 16   // bursts: a power of two
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,

  input  wire logic [IdWidth-1:0]     s_arid_i,
  input  wire logic [AddrWidth-1:0]   s_araddr_i,
  input  wire logic [7:0]             s_arlen_i,
  input  wire logic [2:0]             s_arsize_i,
  input  wire logic                   s_arvalid_i,
  output logic                        s_arready_o,
  output logic [IdWidth-1:0]          s_rid_o,
  output logic [BusWidth-1:0]         s_rdata_o,
  output logic                        s_rlast_o,
  output logic                        s_rvalid_o,
  input  wire logic                   s_rready_i,

  output logic                        mrc_valid_o,
  input  wire logic                   mrc_ready_i,
  output memory_command_t             mrc_o,
  input  wire logic [DataWidth-1:0]   mrd_tdata_i,
  input  wire logic [DataWidth/8-1:0] mrd_tkeep_i,
  input  wire logic                   mrd_tvalid_i,
  input  wire logic                   mrd_tlast_i,
  output logic                        mrd_tready_o
);

  localparam int unsigned Lanes     = BusWidth / 8;
  localparam int unsigned LaneBits  = Lanes > 1 ? $clog2(Lanes) : 1;
  localparam int unsigned InLanes   = DataWidth / 8;
  localparam int unsigned Capacity  = InLanes + Lanes - 1;
  localparam int unsigned CountBits = $clog2(Capacity + 1);
  localparam int unsigned IndexBits = $clog2(Outstanding);

  typedef logic [CountBits-1:0]  count_t;
  typedef logic [8*Capacity-1:0] bytes_t;
  typedef logic [IndexBits:0]    index_t;
  typedef logic [LaneBits-1:0]   lane_t;

  localparam lane_t InWord = lane_t'(Lanes - 1);

  typedef struct packed {
    logic [IdWidth-1:0]  id;
    lane_t               lane;  // of the first byte
    logic [2:0]          size;
    logic [7:0]          len;
  } burst_t;

  burst_t bursts_q[Outstanding];
  index_t in_q, out_q;
  logic   command_free;

  // The bytes of a beat of this size from this address on: up to the next that is aligned.
  function automatic logic [7:0] beat_bytes(input logic [2:0] size, input logic [6:0] addr);
    logic [7:0] whole;
    whole = 8'd1 << size;
    return whole - (8'(addr) & (whole - 8'd1));
  endfunction

  assign command_free = !mrc_valid_o || mrc_ready_i;
  assign s_arready_o  = command_free && in_q - out_q != index_t'(Outstanding);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      mrc_valid_o <= 1'b0;
      in_q        <= '0;
    end else begin
      if (mrc_ready_i) mrc_valid_o <= 1'b0;
      if (s_arvalid_i && s_arready_o) begin
        mrc_valid_o <= 1'b1;
        mrc_o       <= '{address: 64'(s_araddr_i), tag: 16'(in_q), reserved: '0,
                         length: (32'(s_arlen_i) << s_arsize_i)
                                 + 32'(beat_bytes(s_arsize_i, s_araddr_i[6:0]))};
        in_q        <= in_q + index_t'(1);
        bursts_q[in_q[IndexBits-1:0]] <= '{id: s_arid_i, lane: lane_t'(s_araddr_i) & InWord,
                                           size: s_arsize_i, len: s_arlen_i};
      end
    end
  end

  // The bytes of a burst are as many as its command asked for, so they need no borders here.
  bytes_t              bytes_q;  // the next byte is the lowest
  count_t              count_q, left, wanted;
  logic [7:0]          beat_q;
  lane_t               lane_q, lane;  // of a beat behind the first, of the beat
  burst_t              burst;
  logic                give;
  bytes_t              held;

  assign burst        = bursts_q[out_q[IndexBits-1:0]];
  assign lane         = beat_q == 8'd0 ? burst.lane : lane_q;
  assign wanted       = count_t'(beat_bytes(burst.size, 7'(lane)));
  assign s_rid_o      = burst.id;
  assign s_rvalid_o   = in_q != out_q && count_q >= wanted;
  assign s_rlast_o    = beat_q == burst.len;
  assign give         = s_rvalid_o && s_rready_i;
  assign left         = give ? count_q - wanted : count_q;
  assign mrd_tready_o = left <= count_t'(Lanes - 1);

  always_comb begin
    s_rdata_o = '1;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (i >= 32'(lane) && i < 32'(lane) + 32'(wanted)) begin
        s_rdata_o[8*i+:8] = bytes_q[8*(i-32'(lane))+:8];
      end
    end
  end

  always_comb begin
    held = give ? bytes_q >> {wanted, 3'b000} : bytes_q;
    held &= ~({8 * Capacity{1'b1}} << {left, 3'b000});
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_q   <= '0;
      count_q <= '0;
      beat_q  <= '0;
    end else begin
      bytes_q <= held;
      count_q <= left;
      if (mrd_tvalid_i && mrd_tready_o) begin
        bytes_q <= held | (bytes_t'(mrd_tdata_i) << {left, 3'b000});
        count_q <= left + count_t'($countones(mrd_tkeep_i));
      end
      if (give) begin
        lane_q <= (lane + lane_t'(wanted)) & InWord;
        beat_q <= s_rlast_o ? 8'd0 : beat_q + 8'd1;
        if (s_rlast_o) out_q <= out_q + index_t'(1);
      end
    end
  end

endmodule

`default_nettype wire
