// SPDX-License-Identifier: BSD-2-Clause
//
// The CRC-32 register of the ICRC over a frame's covered bytes, from the IP
// header to position last_i. Beats enter whenever they like; the register
// leaves once per frame, a fixed number of cycles (Latency) after the beat
// that holds position last_i. What follows that position does not matter.
// layout_i must be right from the beat that holds the EtherType, last_i from
// any beat not behind the one it points into.

`default_nettype none

module icrc_engine #(
  parameter int unsigned DataWidth = 64,
  localparam int unsigned LaneBits = $clog2(DataWidth / 8),
  localparam int unsigned BeatBits = $bits(icrc_pkg::position_t) - LaneBits
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,

  input  wire logic                valid_i,
  input  wire logic [DataWidth-1:0] data_i,
  input  wire logic [BeatBits-1:0] beat_i,
  input  wire icrc_pkg::layout_t   layout_i,
  input  wire icrc_pkg::position_t last_i,

  output      logic                crc_valid_o,
  output      logic [31:0]         crc_o
);

  if (!(DataWidth inside {64, 128, 256, 512, 1024})) begin : gen_check_width
    $error("icrc_engine: DataWidth must be 64, 128, 256, 512 or 1024");
  end

  typedef struct packed {
    logic                valid;
    logic                last;
    logic [LaneBits-1:0] zero_bytes;  // behind position last_i in its beat
  } stage_t;

  // What comes in, masked, its word, and the register after it.
  logic                 taken_valid_q;
  logic [DataWidth-1:0] data_q;
  logic [BeatBits-1:0]  beat_q;
  icrc_pkg::layout_t    layout_q;
  icrc_pkg::position_t  position_q;
  stage_t masked_q, word_q, crc_q;
  logic   masked_first_q, word_first_q;

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      data_q     <= data_i;
      beat_q     <= beat_i;
      layout_q   <= layout_i;
      position_q <= last_i;
    end
    if (taken_valid_q) begin
      masked_first_q      <= beat_q == '0;
      masked_q.last       <= beat_q == position_q[$bits(position_q)-1:LaneBits];
      masked_q.zero_bytes <= ~position_q[LaneBits-1:0];
    end
    word_q       <= masked_q;
    word_first_q <= masked_first_q;
    crc_q        <= word_q;

    taken_valid_q  <= valid_i;
    masked_q.valid <= taken_valid_q;
    if (!rst_ni) begin
      taken_valid_q  <= 1'b0;
      masked_q.valid <= 1'b0;
      word_q.valid   <= 1'b0;
      crc_q.valid    <= 1'b0;
    end
  end

  logic [DataWidth-1:0] masked;
  icrc_mask #(
    .DataWidth(DataWidth)
  ) u_mask (
    .clk_i,
    .enable_i(taken_valid_q),
    .data_i  (data_q),
    .beat_i  (beat_q),
    .layout_i(layout_q),
    .last_i  (position_q),
    .data_o  (masked)
  );

  logic [31:0] word;
  crc32_word #(
    .DataWidth(DataWidth)
  ) u_word (
    .clk_i,
    .enable_i(masked_q.valid),
    .data_i  (masked),
    .word_o  (word)
  );

  logic [31:0] crc;
  crc32_accumulate #(
    .DataWidth(DataWidth)
  ) u_accumulate (
    .clk_i,
    .enable_i(word_q.valid),
    .first_i (word_first_q),
    .word_i  (word),
    .crc_o   (crc)
  );

  crc32_unwind #(
    .Stages(LaneBits)
  ) u_unwind (
    .clk_i,
    .rst_ni,
    .valid_i     (crc_q.valid && crc_q.last),
    .crc_i       (crc),
    .zero_bytes_i(crc_q.zero_bytes),
    .valid_o     (crc_valid_o),
    .crc_o
  );

endmodule

`default_nettype wire
