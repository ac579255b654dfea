// SPDX-License-Identifier: BSD-2-Clause
//
// The responder: requests come in as the receive path's streams, payload goes
// to memory, acknowledgements leave as frames, completions of receives as
// records. SEND and RDMA WRITE, with and without immediate, on RC and UC; where
// parameters say so, RDMA READ, atomics, SEND with invalidate, and SEND on UD.
// What it says, to the
// peer or to the host, is said once the bytes are in memory. Where NoticeCycles is not 0, marks of
// congestion in requests are told to those who sent them.

`default_nettype none

module responder
  import rx_header_pkg::*;
  import request_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth   = 64,
  parameter int unsigned Qps         = 16,
  parameter int unsigned Regions     = 16,
  parameter int unsigned Receives    = 16,
  parameter int unsigned BufferBytes = 16384,
  parameter serves_t     Serves      = '0,
  parameter int unsigned NoticeCycles = 0,  // of a queue pair so far apart; 0: there are none
  localparam int unsigned Lanes    = DataWidth / 8,
  localparam int unsigned LaneBits = $clog2(Lanes),
  localparam int unsigned BeatBits = 16 - LaneBits
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic [47:0]          port_mac_i,
  input  wire logic [31:0]          port_ipv4_i,
  input  wire logic [127:0]         port_ipv6_i,

  input  wire logic                 qpc_valid_i,
  output      logic                 qpc_ready_o,
  input  wire qp_config_t           config_i,
  input  wire logic                 region_valid_i,
  output      logic                 region_ready_o,
  input  wire memory_region_t       region_i,
  input  wire logic                 receive_valid_i,
  output      logic                 receive_ready_o,
  input  wire receive_t             receive_i,
  output      logic                 completion_valid_o,
  input  wire logic                 completion_ready_i,
  output      receive_completion_t  completion_o,

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

  output      logic                 write_valid_o,
  input  wire logic                 write_ready_i,
  output      memory_command_t      write_o,
  output      logic [DataWidth-1:0] write_tdata_o,
  output      logic [Lanes-1:0]     write_tkeep_o,
  output      logic                 write_tvalid_o,
  output      logic                 write_tlast_o,
  input  wire logic                 write_tready_i,
  input  wire logic                 done_valid_i,
  input  wire memory_done_t         done_i,

  output      logic                 read_valid_o,
  input  wire logic                 read_ready_i,
  output      memory_command_t      read_o,
  input  wire logic [DataWidth-1:0] read_tdata_i,
  input  wire logic [Lanes-1:0]     read_tkeep_i,
  input  wire logic                 read_tvalid_i,
  output      logic                 read_tready_o,

  output      logic [DataWidth-1:0] m_tdata_o,
  output      logic [Lanes-1:0]     m_tkeep_o,
  output      logic                 m_tvalid_o,
  output      logic                 m_tlast_o,
  output      roce_pkg::vlan_tag_t  m_tag_o,
  input  wire logic                 m_tready_i
);

  localparam int unsigned CountBits = $clog2(MaxPayload / Lanes + 1);

  localparam int unsigned ShortBytes = Serves.ipv6 ? NetworkHeaderBytes : Ipv4Bytes;

  // Lets the engine go on while payload is on its way and memory is slow.
  localparam int unsigned CommandDepth = 4;

  logic                 request_valid, request_ready, good;
  request_t             request;
  logic [CountBits-1:0] request_beats;
  logic                 fate_valid, fate_ready, fate_forget;
  logic [CountBits-1:0] fate_beats;
  logic [LaneBits-1:0]  fate_tail;
  logic                 ask_valid, ask_ready, ask_short;
  memory_command_t      ask, fetch;
  logic                 fetch_valid, fetch_ready, fetch_tvalid, fetch_tready;
  logic [DataWidth-1:0] payload_tdata;
  logic [Lanes-1:0]     payload_tkeep;
  logic                 payload_tvalid, payload_tlast, payload_tready;
  logic                 operate, operated, stores;
  logic [8*ShortBytes-1:0] network_header;  // its last bytes, the first on the wire lowest
  logic [63:0]          operand_address, original, result;
  logic                 outcome_valid, outcome_ready, may_write, settled;
  outcome_t             outcome;
  write_count_t         asked;
  logic                 answer_valid, answer_ready, left;
  answer_t              answer;
  read_note_t           note;
  logic                 is_request, changed, notice_valid, notice_ready;
  request_t             parsed;
  logic [$clog2(Qps)-1:0] changed_index;
  receiver_t            told;
  roce_tx_pkg::path_t   notice;

  request_path #(
    .DataWidth    (DataWidth),
    .BufferBytes  (BufferBytes),
    .FateDepth    (CommandDepth),
    .Serves       (Serves)
  ) u_request_path (
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
    .is_request_o   (is_request),
    .parsed_o       (parsed),
    .request_valid_o(request_valid),
    .request_ready_i(request_ready),
    .good_o         (good),
    .request_o      (request),
    .beats_o        (request_beats),
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

  responder_engine #(
    .DataWidth(DataWidth),
    .Qps      (Qps),
    .Regions  (Regions),
    .Receives (Receives),
    .Serves   (Serves)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .qpc_valid_i,
    .qpc_ready_o,
    .config_i,
    .region_valid_i,
    .region_ready_o,
    .region_i,
    .receive_valid_i,
    .receive_ready_o,
    .receive_i,
    .request_valid_i(request_valid),
    .request_ready_o(request_ready),
    .good_i         (good),
    .request_i      (request),
    .beats_i        (request_beats),
    .payload_valid_o(fate_valid),
    .payload_ready_i(fate_ready),
    .forget_o       (fate_forget),
    .beats_o        (fate_beats),
    .tail_o         (fate_tail),
    .write_valid_o  (ask_valid),
    .write_ready_i  (ask_ready),
    .write_o        (ask),
    .write_short_o  (ask_short),
    .operate_o      (operate),
    .operand_address_o(operand_address),
    .operated_i     (operated),
    .stores_i       (stores),
    .original_i     (original),
    .outcome_valid_o(outcome_valid),
    .outcome_ready_i(outcome_ready),
    .outcome_o      (outcome),
    .asked_o        (asked),
    .may_write_i    (may_write),
    .settled_i      (settled),
    .left_i         (left),
    .note_i         (note),
    .told_o         (told),
    .changed_o      (changed),
    .index_o        (changed_index)
  );

  if (NoticeCycles != 0) begin : gen_notifier
    congestion_notifier #(
      .Qps     (Qps),
      .Distance(NoticeCycles)
    ) u_notifier (
      .clk_i,
      .rst_ni,
      .frame_taken_i,
      .frame_valid_i  (parsed_valid_i && parsed_last_i),
      .is_marked_i    (is_request && is_marked(header_i, ipv6_i)),
      .request_i      (parsed),
      .verdict_valid_i,
      .icrc_ok_i,
      .changed_i      (changed),
      .configures_i   (qpc_ready_o),
      .index_i        (changed_index),
      .told_i         (told),
      .notice_valid_o (notice_valid),
      .notice_ready_i (notice_ready),
      .notice_o       (notice)
    );
  end else begin : gen_no_notifier
    logic unused_marks;
    assign unused_marks = ^{is_request, parsed, told, changed, changed_index, notice_ready};
    assign notice_valid = 1'b0;
    assign notice       = '0;
  end

  outcome_queue u_outcomes (
    .clk_i,
    .rst_ni,
    .push_valid_i  (outcome_valid),
    .push_ready_o  (outcome_ready),
    .outcome_i     (outcome),
    .asked_i       (asked),
    .done_valid_i,
    .done_i,
    .may_write_o   (may_write),
    .settled_o     (settled),
    .answer_valid_o(answer_valid),
    .answer_ready_i(answer_ready),
    .answer_o      (answer),
    .completion_valid_o,
    .completion_ready_i,
    .completion_o
  );

  // A streaming operator would be one line, and takes Verilator a fifth of each cycle.
  for (genvar i = 0; i < ShortBytes; i++) begin : gen_network_header
    assign network_header[8*i+:8] = request.ip[8*(ShortBytes-1-i)+:8];
  end

  memory_writer #(
    .DataWidth(DataWidth),
    .Depth    (CommandDepth),
    .HasShort (Serves.atomics || Serves.datagrams),
    .ShortBytes(ShortBytes)
  ) u_writer (
    .clk_i,
    .rst_ni,
    .ask_valid_i(ask_valid),
    .ask_ready_o(ask_ready),
    .ask_i      (ask),
    .is_short_i (ask_short),
    .short_i    (operated ? (8*ShortBytes)'(result) : network_header),
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

  atomic_unit #(
    .Built(Serves.atomics)
  ) u_atomics (
    .clk_i,
    .rst_ni,
    .operate_i        (operate),
    .request_i        (request),
    .address_i        (operand_address),
    .done_o           (operated),
    .stores_o         (stores),
    .original_o       (original),
    .result_o         (result),
    .taken_i          (request_ready),
    .s_command_valid_i(fetch_valid),
    .s_command_ready_o(fetch_ready),
    .s_command_i      (fetch),
    .s_tvalid_o       (fetch_tvalid),
    .s_tready_i       (fetch_tready),
    .m_command_valid_o(read_valid_o),
    .m_command_ready_i(read_ready_i),
    .m_command_o      (read_o),
    .m_tdata_i        (read_tdata_i[63:0]),
    .m_tvalid_i       (read_tvalid_i),
    .m_tready_o       (read_tready_o)
  );

  response_path #(
    .DataWidth(DataWidth),
    .Ipv6     (32'(Serves.ipv6)),
    .Vlan     (32'(Serves.vlan)),
    .Notices  (32'(NoticeCycles != 0))
  ) u_response_path (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_ipv4_i,
    .port_ipv6_i,
    .answer_valid_i (answer_valid),
    .answer_ready_o (answer_ready),
    .answer_i       (answer),
    .command_valid_o(fetch_valid),
    .command_ready_i(fetch_ready),
    .command_o      (fetch),
    .read_tdata_i,
    .read_tkeep_i,
    .read_tvalid_i  (fetch_tvalid),
    .read_tready_o  (fetch_tready),
    .notice_valid_i (notice_valid),
    .notice_ready_o (notice_ready),
    .notice_i       (notice),
    .left_o         (left),
    .note_o         (note),
    .m_tdata_o,
    .m_tkeep_o,
    .m_tvalid_o,
    .m_tlast_o,
    .m_tag_o,
    .m_tready_i
  );

endmodule

`default_nettype wire
