// SPDX-License-Identifier: BSD-2-Clause
//
// Keeps the payload of packets until their fate is known. Beats go in without
// asking: room_o falls while there are still Reserve places. Commands say, in
// the order in which the packets came, what becomes of the beats of each: they
// are given, the last with tail_i bytes (0 is all), or forgotten in one cycle.

`default_nettype none

module payload_buffer #(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Beats     = 2048,
  parameter int unsigned CountBits = 10,
  parameter int unsigned Reserve   = 8,
  localparam int unsigned Lanes     = DataWidth / 8,
  localparam int unsigned LaneBits  = $clog2(Lanes),
  localparam int unsigned IndexBits = $clog2(Beats)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 write_i,
  input  wire logic [DataWidth-1:0] data_i,
  output      logic                 room_o,

  input  wire logic                 command_valid_i,
  output      logic                 command_ready_o,
  input  wire logic                 forget_i,
  input  wire logic [CountBits-1:0] beats_i,
  input  wire logic [LaneBits-1:0]  tail_i,

  output      logic [DataWidth-1:0] m_tdata_o,
  output      logic [Lanes-1:0]     m_tkeep_o,
  output      logic                 m_tvalid_o,
  output      logic                 m_tlast_o,
  input  wire logic                 m_tready_i
);

  if (Beats <= Reserve || (Beats & (Beats - 1)) != 0) begin : gen_bad_beats
    $error("payload_buffer: Beats must be a power of two above Reserve");
  end

  typedef logic [IndexBits:0] place_t;  // one bit more than an index: full is not empty

  place_t               write_q, read_q, used;
  logic [CountBits-1:0] left_q;
  logic [LaneBits-1:0]  tail_q;
  logic                 read, last, accept;

  assign used            = write_q - read_q;
  assign room_o          = used <= place_t'(Beats - Reserve);
  assign read            = left_q != '0 && (!m_tvalid_o || m_tready_i);
  assign last            = left_q == CountBits'(1);
  assign command_ready_o = left_q == '0 || (read && last);
  assign accept          = command_valid_i && command_ready_o;

  ram_1r1w #(
    .Width(DataWidth),
    .Words(Beats)
  ) u_beats (
    .clk_i,
    .write_i,
    .write_index_i(write_q[IndexBits-1:0]),
    .write_data_i (data_i),
    .read_i       (read),
    .read_index_i (read_q[IndexBits-1:0]),
    .read_data_o  (m_tdata_o)
  );

  always_ff @(posedge clk_i) begin
    if (read) begin
      m_tlast_o <= last;
      m_tkeep_o <= last && tail_q != '0 ? ~({Lanes{1'b1}} << tail_q) : '1;
    end
    if (accept) tail_q <= tail_i;

    if (!rst_ni) begin
      write_q    <= '0;
      read_q     <= '0;
      left_q     <= '0;
      m_tvalid_o <= 1'b0;
    end else begin
      if (m_tready_i) m_tvalid_o <= 1'b0;
      if (read) begin
        m_tvalid_o <= 1'b1;
        left_q     <= left_q - 1'b1;
      end
      if (accept) left_q <= forget_i ? '0 : beats_i;
      write_q <= write_q + place_t'(write_i);
      read_q  <= read_q + place_t'(read) + (accept && forget_i ? place_t'(beats_i) : '0);
    end
  end

  never_overrun: assert property (@(posedge clk_i) disable iff (!rst_ni)
      used <= place_t'(Beats) && !(write_i && used == place_t'(Beats)));
  never_empty: assert property (@(posedge clk_i) disable iff (!rst_ni) read |-> used != '0);

endmodule

`default_nettype wire
