// SPDX-License-Identifier: BSD-2-Clause
//
// Writes to memory: commands go out as they come, and their data in the same
// order. A short write brings its few bytes along, byte 0 in bits 7:0; the data
// of the others is the next packet of s_*. Short writes are built only where
// HasShort is set.

`default_nettype none

module memory_writer
  import responder_pkg::*;
  import roceproof_dut_pkg::memory_command_t;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Depth     = 4,     // commands that may wait
  parameter bit          HasShort  = 1'b0,
  parameter int unsigned ShortBytes = 20,
  localparam int unsigned Lanes = DataWidth / 8
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 ask_valid_i,
  output      logic                 ask_ready_o,
  input  wire memory_command_t      ask_i,
  input  wire logic                 is_short_i,
  input  wire logic [8*ShortBytes-1:0] short_i,

  input  wire logic [DataWidth-1:0] s_tdata_i,
  input  wire logic [Lanes-1:0]     s_tkeep_i,
  input  wire logic                 s_tvalid_i,
  input  wire logic                 s_tlast_i,
  output      logic                 s_tready_o,

  output      logic                 write_valid_o,
  input  wire logic                 write_ready_i,
  output      memory_command_t      write_o,
  output      logic [DataWidth-1:0] m_tdata_o,
  output      logic [Lanes-1:0]     m_tkeep_o,
  output      logic                 m_tvalid_o,
  output      logic                 m_tlast_o,
  input  wire logic                 m_tready_i
);

  logic command_room, data_room;

  assign ask_ready_o = command_room && data_room;

  stream_fifo #(
    .Width($bits(memory_command_t)),
    .Depth(Depth)
  ) u_commands (
    .clk_i,
    .rst_ni,
    .s_data_i (ask_i),
    .s_valid_i(ask_valid_i && data_room),
    .s_ready_o(command_room),
    .m_data_o (write_o),
    .m_valid_o(write_valid_o),
    .m_ready_i(write_ready_i)
  );

  if (HasShort) begin : gen_short
    typedef struct packed {
      logic        is_short;
      short_size_t size;
      logic [8*ShortBytes-1:0] data;
    } source_t;

    localparam int unsigned PadBits = (ShortBytes + Lanes - 1) / Lanes * DataWidth;

    source_t              source;
    logic                 source_valid, is_short, last, step;
    short_size_t          given_q, left;
    logic [PadBits-1:0]   padded;
    logic [Lanes-1:0]     keep;

    stream_fifo #(
      .Width($bits(source_t)),
      .Depth(Depth)
    ) u_sources (
      .clk_i,
      .rst_ni,
      .s_data_i ({is_short_i, short_size_t'(ask_i.length), short_i}),
      .s_valid_i(ask_valid_i && command_room),
      .s_ready_o(data_room),
      .m_data_o (source),
      .m_valid_o(source_valid),
      .m_ready_i(step && m_tlast_o)
    );

    assign is_short = source.is_short;
    assign left     = source.size - given_q;
    assign last     = 32'(left) <= Lanes;
    assign padded   = PadBits'(source.data) >> {given_q, 3'b000};
    assign keep     = last ? ~({Lanes{1'b1}} << left) : '1;
    assign step     = m_tvalid_o && m_tready_i;

    assign m_tvalid_o = source_valid && (is_short || s_tvalid_i);
    assign m_tdata_o  = is_short ? padded[DataWidth-1:0] : s_tdata_i;
    assign m_tkeep_o  = is_short ? keep : s_tkeep_i;
    assign m_tlast_o  = is_short ? last : s_tlast_i;
    assign s_tready_o = m_tready_i && source_valid && !is_short;

    always_ff @(posedge clk_i) begin
      if (step && is_short) given_q <= last ? '0 : given_q + short_size_t'(Lanes);
      if (!rst_ni) given_q <= '0;
    end
  end else begin : gen_long
    logic unused_short;
    assign unused_short = ^{is_short_i, short_i};
    assign data_room    = 1'b1;
    assign m_tdata_o    = s_tdata_i;
    assign m_tkeep_o    = s_tkeep_i;
    assign m_tvalid_o   = s_tvalid_i;
    assign m_tlast_o    = s_tlast_i;
    assign s_tready_o   = m_tready_i;
  end

endmodule

`default_nettype wire
