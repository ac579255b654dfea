// SPDX-License-Identifier: BSD-2-Clause
//
// The requester: work requests and their payload in, frames out, completions
// once RC messages are acknowledged and others have left. A configuration is
// taken between two packets; while hold_i is high no further packet begins.
// Where Reads says so it asks for data, too, and tells by event_o what those must
// know who take them in (answer_path.sv); response_i then is what they say.

`default_nettype none

module requester
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400,
  parameter int unsigned Qps       = 16,
  parameter int unsigned Recovery  = 0,   // 1: RC repeats what is lost
  parameter int unsigned Ipv6      = 0,   // 1: to peers with IPv6 addresses, too
  parameter int unsigned Vlan      = 0,   // 1: frames will have a tag
  parameter int unsigned Reads     = 0,   // 1: READs and atomics are sent
  parameter int unsigned Datagrams = 0,   // 1: SEND on UD is
  parameter int unsigned Credits   = 0,   // 1: RC obeys end-to-end credits where its QP is told to
  parameter int unsigned Reacts    = 0,   // 1: notifications of congestion slow QPs down
  parameter int unsigned Period    = 1,   // of their rates, in cycles
  parameter int unsigned Slowest   = 64   // one of so many parts of the line's rate is left
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic [47:0]          port_mac_i,
  input  wire logic [31:0]          port_ipv4_i,
  input  wire logic [127:0]         port_ipv6_i,

  input  wire logic                 hold_i,
  input  wire logic                 qpc_valid_i,
  output      logic                 qpc_ready_o,
  input  wire qp_config_t           config_i,
  input  wire logic                 wr_valid_i,
  output      logic                 wr_ready_o,
  input  wire work_request_t        wr_i,
  input  wire logic [DataWidth-1:0] pl_tdata_i,
  input  wire logic                 pl_tvalid_i,
  input  wire logic                 pl_tlast_i,
  output      logic                 pl_tready_o,
  output      logic                 cpl_valid_o,
  input  wire logic                 cpl_ready_i,
  output      completion_t          cpl_o,

  input  wire logic                 notice_valid_i,
  input  wire roce_pkg::notice_t    notice_i,
  input  wire logic                 response_valid_i,
  output      logic                 response_ready_o,
  input  wire roce_pkg::response_t  response_i,
  input  wire roce_tx_pkg::fault_t  fault_i,
  output      reads_pkg::event_t    event_o,
  input  wire logic                 ask_room_i,
  input  wire logic                 fenced_i,      // data of a queue pair that starts anew are in memory
  input  wire logic                 landed_i,      // and those of one that has failed

  output      logic [DataWidth-1:0]   m_tdata_o,
  output      logic [DataWidth/8-1:0] m_tkeep_o,
  output      logic                   m_tvalid_o,
  output      logic                   m_tlast_o,
  output      roce_pkg::vlan_tag_t    m_tag_o,
  input  wire logic                   m_tready_i,
  input  wire logic                   left_i       // the last beat of a frame is on the wire
);

  localparam int unsigned InFlight  = 16;
  localparam int unsigned WaitBits  = $clog2(InFlight + 1);
  localparam int unsigned IndexBits = $clog2(Qps);

  logic                        ready, configure_ready, configure;
  logic                        flushes, failed;
  logic [IndexBits-1:0]        failed_index;
  logic                        start_valid, start_ready, start_refused;
  roce_tx_pkg::message_start_t start;
  roce_tx_pkg::generation_t    start_generation;
  logic                        oldest_valid, held_valid, held, admits, copy, copy_waits, issued;
  logic [23:0]                 oldest, issued_more, issued_psn;
  logic [IndexBits-1:0]        context_index, issued_index;
  roce_tx_pkg::copy_t          copied;
  roce_tx_pkg::slot_t          issued_slot;
  logic [Qps-1:0]              paced;
  logic                        departed_valid, departed_ready, departure_owed, departure_popped;
  roce_tx_pkg::departure_t     departed;
  logic [WaitBits-1:0]         departures;
  logic                        sent_valid, sent_ready;
  completion_t                 sent;
  logic                        answered_valid, answered_ready;
  completion_t                 answered;

  logic                        posted_valid, posted_ready, stale, pl_tvalid, pl_tlast, pl_tready;
  logic                        may_configure;
  work_request_t               posted;
  operands_t                   operands;
  logic [DataWidth-1:0]        pl_tdata;

  assign qpc_ready_o = configure_ready && ready;

  if (Reads != 0) begin : gen_reads
    operand_reader #(
      .DataWidth(DataWidth),
      .Qps      (Qps)
    ) u_operand_reader (
      .clk_i,
      .rst_ni,
      .hold_i,
      .configure_i(configure),
      .config_i,
      .wr_valid_i,
      .wr_ready_o,
      .wr_i,
      .pl_tdata_i,
      .pl_tvalid_i,
      .pl_tlast_i,
      .pl_tready_o,
      .wr_valid_o (posted_valid),
      .wr_ready_i (posted_ready),
      .wr_o       (posted),
      .operands_o (operands),
      .stale_o    (stale),
      .pl_tdata_o (pl_tdata),
      .pl_tvalid_o(pl_tvalid),
      .pl_tlast_o (pl_tlast),
      .pl_tready_i(pl_tready)
    );
    assign may_configure = fenced_i;
  end else begin : gen_no_reads
    logic unused_reads;
    assign unused_reads  = fenced_i;
    assign stale         = 1'b0;
    assign posted_valid  = wr_valid_i;
    assign wr_ready_o    = posted_ready;
    assign posted        = wr_i;
    assign operands      = '0;
    assign pl_tdata      = pl_tdata_i;
    assign pl_tvalid     = pl_tvalid_i;
    assign pl_tlast      = pl_tlast_i;
    assign pl_tready_o   = pl_tready;
    assign may_configure = 1'b1;
  end

  assign event_o.configures     = configure;
  assign event_o.fails          = failed;
  assign event_o.failed_index   = reads_pkg::index_t'(failed_index);
  assign event_o.departs        = departed_valid && departed_ready && !departed.copy;
  assign event_o.departs_asking = departed.asks;
  assign event_o.departed_index = reads_pkg::index_t'(departed.completion.qpn[IndexBits-1:0]);
  assign event_o.owed           = departure_owed;
  assign event_o.ask_index      = reads_pkg::index_t'(issued_index);
  assign event_o.asks_rest      = copy && copied.answered != '0;
  assign event_o.rest_index     = reads_pkg::index_t'(context_index);

  tx_path #(
    .DataWidth(DataWidth),
    .Qps      (Qps),
    .Recovery (Recovery),
    .Ipv6     (Ipv6),
    .Vlan     (Vlan),
    .Reads    (Reads),
    .Datagrams(Datagrams),
    .Credits  (Credits),
    .Reacts   (Reacts),
    .Period   (Period),
    .Slowest  (Slowest),
    .InFlight (InFlight)
  ) u_tx_path (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_ipv4_i,
    .port_ipv6_i,
    .ready_o           (ready),
    .hold_i,
    .configure_i       (configure),
    .config_i,
    .wr_valid_i        (posted_valid),
    .wr_ready_o        (posted_ready),
    .wr_i              (posted),
    .operands_i        (operands),
    .stale_i           (stale),
    .pl_tdata_i        (pl_tdata),
    .pl_tvalid_i       (pl_tvalid),
    .pl_tlast_i        (pl_tlast),
    .pl_tready_o       (pl_tready),
    .flushes_i         (flushes),
    .failed_i          (failed),
    .failed_index_i    (failed_index),
    .start_valid_o     (start_valid),
    .start_ready_i     (start_ready),
    .start_o           (start),
    .start_refused_i   (start_refused),
    .start_generation_i(start_generation),
    .asks_o            (event_o.asks),
    .asked_o           (event_o.asked),
    .asks_limit_o      (event_o.ask_limit),
    .asks_room_i       (ask_room_i),
    .admits_i          (admits),
    .notice_valid_i,
    .notice_i,
    .paced_o           (paced),
    .oldest_valid_i    (oldest_valid),
    .oldest_i          (oldest),
    .held_valid_i      (held_valid),
    .held_i            (held),
    .context_index_i   (context_index),
    .copy_i            (copy),
    .copied_i          (copied),
    .copy_waits_o      (copy_waits),
    .issued_o          (issued),
    .issued_index_o    (issued_index),
    .issued_slot_o     (issued_slot),
    .issued_more_o     (issued_more),
    .issued_psn_o      (issued_psn),
    .departed_valid_o  (departed_valid),
    .departed_ready_i  (departed_ready),
    .departed_o        (departed),
    .departure_owed_o  (departure_owed),
    .departures_o      (departures),
    .departure_popped_o(departure_popped),
    .completion_valid_o(sent_valid),
    .completion_ready_i(sent_ready),
    .completion_o      (sent),
    .m_tdata_o,
    .m_tkeep_o,
    .m_tvalid_o,
    .m_tlast_o,
    .m_tag_o,
    .m_tready_i,
    .left_i
  );

  ack_tracker #(
    .ClockPs (ClockPs),
    .Qps     (Qps),
    .Recovery(Recovery),
    .Ipv6    (Ipv6),
    .Reads   (Reads),
    .Credits (Credits),
    .WaitBits(WaitBits)
  ) u_ack_tracker (
    .clk_i,
    .rst_ni,
    .configure_valid_i (qpc_valid_i && ready && may_configure),
    .configure_ready_o (configure_ready),
    .config_i,
    .configure_o       (configure),
    .start_valid_i     (start_valid),
    .start_ready_o     (start_ready),
    .start_i           (start),
    .start_refused_o   (start_refused),
    .start_generation_o(start_generation),
    .departed_valid_i  (departed_valid),
    .departed_ready_o  (departed_ready),
    .departed_i        (departed),
    .departure_owed_i  (departure_owed),
    .departures_i      (departures),
    .departure_popped_i(departure_popped),
    .landed_i,
    .response_valid_i,
    .response_ready_o,
    .response_i,
    .fault_i,
    .flushes_o         (flushes),
    .failed_o          (failed),
    .failed_index_o    (failed_index),
    .oldest_valid_o    (oldest_valid),
    .oldest_o          (oldest),
    .held_valid_o      (held_valid),
    .held_o            (held),
    .admits_o          (admits),
    .index_o           (context_index),
    .paced_i           (paced),
    .issued_i          (issued),
    .issued_index_i    (issued_index),
    .issued_slot_i     (issued_slot),
    .issued_more_i     (issued_more),
    .issued_psn_i      (issued_psn),
    .copy_o            (copy),
    .copied_o          (copied),
    .copy_waits_i      (copy_waits),
    .completion_valid_o(answered_valid),
    .completion_ready_i(answered_ready),
    .completion_o      (answered)
  );

  completion_mux u_completion_mux (
    .clk_i,
    .rst_ni,
    .first_valid_i (answered_valid),
    .first_ready_o (answered_ready),
    .first_i       (answered),
    .second_valid_i(sent_valid),
    .second_ready_o(sent_ready),
    .second_i      (sent),
    .cpl_valid_o,
    .cpl_ready_i,
    .cpl_o
  );

endmodule

`default_nettype wire
