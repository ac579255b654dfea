// SPDX-License-Identifier: BSD-2-Clause
//
// What comes back to a requester that reads: ACKNOWLEDGEs, responses of READs and
// ATOMIC ACKNOWLEDGEs, in the order of the wire. Data go to memory. What the ACK
// tracker is told, in the same order, is that a PSN is answered, once its data are in
// memory, or a fault. Frames come as the streams of rx_path.

`default_nettype none

module answer_path
  import rx_header_pkg::*;
  import request_pkg::*;
  import reads_pkg::*;
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth   = 64,
  parameter int unsigned Qps         = 16,
  parameter int unsigned Regions     = 16,
  parameter int unsigned Ipv6        = 0,
  parameter int unsigned BufferBytes = 16384,
  localparam int unsigned Lanes    = DataWidth / 8,
  localparam int unsigned LaneBits = $clog2(Lanes),
  localparam int unsigned BeatBits = 16 - LaneBits
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 qpc_valid_i,
  input  wire logic                 qpc_ready_i,
  input  wire qp_config_t           config_i,
  output      logic                 fenced_o,
  input  wire event_t               event_i,
  output      logic                 ask_room_o,
  output      logic                 landed_o,
  input  wire logic                 region_valid_i,
  output      logic                 region_ready_o,
  input  wire memory_region_t       region_i,

  input  wire logic                 frame_taken_i,
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

  output      logic                 response_valid_o,
  input  wire logic                 response_ready_i,
  output      roce_pkg::response_t  response_o,
  output      roce_tx_pkg::fault_t  fault_o,

  output      logic                 write_valid_o,
  input  wire logic                 write_ready_i,
  output      memory_command_t      write_o,
  output      logic [DataWidth-1:0] write_tdata_o,
  output      logic [Lanes-1:0]     write_tkeep_o,
  output      logic                 write_tvalid_o,
  output      logic                 write_tlast_o,
  input  wire logic                 write_tready_i,
  input  wire logic                 done_valid_i
);

  localparam int unsigned CountBits    = $clog2(MaxPayload / Lanes + 1);
  localparam int unsigned CommandDepth = 4;

  logic                 answer_valid, answer_ready, good, unused_is_answer;
  request_t             answer, unused_parsed;
  logic [CountBits-1:0] answer_beats, fate_beats;
  logic                 fate_valid, fate_ready, fate_forget;
  logic [LaneBits-1:0]  fate_tail;
  logic                 ask_valid, ask_ready, ask_short;
  memory_command_t      ask;
  logic [63:0]          original;
  logic [DataWidth-1:0] payload_tdata;
  logic [Lanes-1:0]     payload_tkeep;
  logic                 payload_tvalid, payload_tlast, payload_tready;

  request_path #(
    .DataWidth  (DataWidth),
    .BufferBytes(BufferBytes),
    .FateDepth  (CommandDepth),
    .Serves     ('{ipv6: Ipv6 != 0, default: 1'b0}),
    .Responses  (1'b1)
  ) u_responses (
    .clk_i,
    .rst_ni,
    .frame_taken_i,
    .ready_o,
    .valid_i,
    .data_i,
    .last_i,
    .beat_i,
    .window_i,
    .parsed_valid_i,
    .parsed_last_i,
    .kind_i,
    .header_i,
    .ipv6_i,
    .verdict_valid_i,
    .icrc_ok_i,
    .is_request_o   (unused_is_answer),
    .parsed_o       (unused_parsed),
    .request_valid_o(answer_valid),
    .request_ready_i(answer_ready),
    .good_o         (good),
    .request_o      (answer),
    .beats_o        (answer_beats),
    .fate_valid_i   (fate_valid),
    .fate_ready_o   (fate_ready),
    .forget_i       (fate_forget),
    .beats_i        (fate_beats),
    .tail_i         (fate_tail),
    .m_tdata_o      (payload_tdata),
    .m_tkeep_o      (payload_tkeep),
    .m_tvalid_o     (payload_tvalid),
    .m_tlast_o      (payload_tlast),
    .m_tready_i     (payload_tready)
  );

  response_engine #(
    .DataWidth(DataWidth),
    .Qps      (Qps),
    .Regions  (Regions),
    .Ipv6     (Ipv6)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .qpc_valid_i,
    .qpc_ready_i,
    .config_i,
    .fenced_o,
    .event_i,
    .ask_room_o,
    .landed_o,
    .region_valid_i,
    .region_ready_o,
    .region_i,
    .answer_valid_i (answer_valid),
    .answer_ready_o (answer_ready),
    .good_i         (good),
    .answer_i       (answer),
    .beats_i        (answer_beats),
    .payload_valid_o(fate_valid),
    .payload_ready_i(fate_ready),
    .forget_o       (fate_forget),
    .beats_o        (fate_beats),
    .tail_o         (fate_tail),
    .write_valid_o  (ask_valid),
    .write_ready_i  (ask_ready),
    .write_o        (ask),
    .write_short_o  (ask_short),
    .original_o     (original),
    .done_valid_i,
    .response_valid_o,
    .response_ready_i,
    .response_o,
    .fault_o
  );

  memory_writer #(
    .DataWidth (DataWidth),
    .Depth     (CommandDepth),
    .HasShort  (1'b1),
    .ShortBytes(responder_pkg::AtomicBytes)
  ) u_writer (
    .clk_i,
    .rst_ni,
    .ask_valid_i(ask_valid),
    .ask_ready_o(ask_ready),
    .ask_i      (ask),
    .is_short_i (ask_short),
    .short_i    (original),
    .s_tdata_i  (payload_tdata),
    .s_tkeep_i  (payload_tkeep),
    .s_tvalid_i (payload_tvalid),
    .s_tlast_i  (payload_tlast),
    .s_tready_o (payload_tready),
    .write_valid_o,
    .write_ready_i,
    .write_o,
    .m_tdata_o  (write_tdata_o),
    .m_tkeep_o  (write_tkeep_o),
    .m_tvalid_o (write_tvalid_o),
    .m_tlast_o  (write_tlast_o),
    .m_tready_i (write_tready_i)
  );

endmodule

`default_nettype wire
