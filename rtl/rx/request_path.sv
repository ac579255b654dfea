// SPDX-License-Identifier: BSD-2-Clause
//
// The responder's receive side: from frames to requests with a right ICRC, in
// order, and beside each its payload, which waits until fate_* says what becomes
// of it. With Responses set it is what comes back to the requester that goes this way. Takes the streams of rx_window and rx_parser and the verdict
// of icrc_check. Frames may come while ready_o is high.

`default_nettype none

module request_path
  import rx_header_pkg::*;
  import request_pkg::*;
#(
  parameter int unsigned DataWidth   = 64,
  parameter int unsigned BufferBytes = 16384,
  parameter int unsigned FateDepth   = 4,  // packets whose payload may wait
  parameter serves_t     Serves      = '0,
  parameter bit          Responses   = 1'b0,
  localparam int unsigned Lanes     = DataWidth / 8,
  localparam int unsigned LaneBits  = $clog2(Lanes),
  localparam int unsigned BeatBits  = 16 - LaneBits,
  localparam int unsigned CountBits = $clog2(MaxPayload / Lanes + 1)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 frame_taken_i,  // its last beat, from the wire
  output      logic                 ready_o,

  input  wire logic                 valid_i,
  input  wire logic [DataWidth-1:0] data_i,
  input  wire logic                 last_i,
  input  wire logic [BeatBits-1:0]  beat_i,
  input  wire window_t              window_i,

  input  wire logic                 parsed_valid_i,
  input  wire logic                 parsed_last_i,
  input  wire frame_kind_t          kind_i,
  input  wire frame_header_t        header_i,
  input  wire roce_pkg::ipv6_t      ipv6_i,

  input  wire logic                 verdict_valid_i,
  input  wire logic                 icrc_ok_i,

  output      logic                 is_request_o,  // of the frame that is parsed
  output      request_t             parsed_o,

  output      logic                 request_valid_o,
  input  wire logic                 request_ready_i,
  output      logic                 good_o,
  output      request_t             request_o,
  output      logic [CountBits-1:0] beats_o,

  input  wire logic                 fate_valid_i,
  output      logic                 fate_ready_o,
  input  wire logic                 forget_i,
  input  wire logic [CountBits-1:0] beats_i,
  input  wire logic [LaneBits-1:0]  tail_i,

  output      logic [DataWidth-1:0] m_tdata_o,
  output      logic [Lanes-1:0]     m_tkeep_o,
  output      logic                 m_tvalid_o,
  output      logic                 m_tlast_o,
  input  wire logic                 m_tready_i
);

  localparam int unsigned MaxFrames = 16;

  logic                 join_ready, room, beat_valid;
  logic [DataWidth-1:0] beat;
  logic [CountBits-1:0] frame_beats;

  assign ready_o = join_ready && room;

  request_parser #(
    .DataWidth(DataWidth),
    .Serves   (Serves),
    .Responses(Responses)
  ) u_parser (
    .clk_i,
    .valid_i,
    .data_i,
    .beat_i,
    .kind_i,
    .header_i,
    .ipv6_i,
    .is_request_o,
    .request_o   (parsed_o)
  );

  request_payload #(
    .DataWidth(DataWidth),
    .Ipv6     (Serves.ipv6),
    .Responses(Responses)
  ) u_payload (
    .clk_i,
    .rst_ni,
    .valid_i,
    .data_i,
    .last_i,
    .beat_i,
    .window_i,
    .valid_o      (beat_valid),
    .data_o       (beat),
    .frame_beats_o(frame_beats)
  );

  request_join #(
    .CountBits(CountBits),
    .MaxFrames(MaxFrames)
  ) u_join (
    .clk_i,
    .rst_ni,
    .frame_taken_i,
    .ready_o        (join_ready),
    .frame_valid_i  (parsed_valid_i && parsed_last_i),
    .is_request_i   (is_request_o),
    .request_i      (parsed_o),
    .beats_i        (frame_beats),
    .verdict_valid_i,
    .icrc_ok_i,
    .request_valid_o,
    .request_ready_i,
    .good_o,
    .request_o,
    .beats_o
  );

  logic                 command_valid, command_ready, forget;
  logic [CountBits-1:0] beats;
  logic [LaneBits-1:0]  tail;

  stream_fifo #(
    .Width(1 + CountBits + LaneBits),
    .Depth(FateDepth)
  ) u_fates (
    .clk_i,
    .rst_ni,
    .s_data_i ({forget_i, beats_i, tail_i}),
    .s_valid_i(fate_valid_i),
    .s_ready_o(fate_ready_o),
    .m_data_o ({forget, beats, tail}),
    .m_valid_o(command_valid),
    .m_ready_i(command_ready)
  );

  payload_buffer #(
    .DataWidth(DataWidth),
    .Beats    (BufferBytes / Lanes),
    .CountBits(CountBits)
  ) u_buffer (
    .clk_i,
    .rst_ni,
    .write_i(beat_valid),
    .data_i (beat),
    .room_o (room),
    .command_valid_i(command_valid),
    .command_ready_o(command_ready),
    .forget_i       (forget),
    .beats_i        (beats),
    .tail_i         (tail),
    .m_tdata_o,
    .m_tkeep_o,
    .m_tvalid_o,
    .m_tlast_o,
    .m_tready_i
  );

endmodule

`default_nettype wire
