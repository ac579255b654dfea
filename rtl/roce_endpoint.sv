// SPDX-License-Identifier: BSD-2-Clause
//
// The reference RoCEv2 endpoint, with the ports of the DUT contract
// (docs/dut-contract.md). Sends SEND and RDMA WRITE, with and without
// immediate, on RC and UC over IPv4; takes RC acknowledgements, answers ARP
// and ICMP echo. Where Recovery says so, it retransmits; where Reacts does, notifications of
// congestion slow it down; where Ipv6 does, it speaks
// IPv6, too, with its GID for an address, or where that is of IPv4 with the link-local
// one of its MAC address; where Vlan does, its packets carry the VLAN tags that their queue
// pairs are told, and it takes frames with a tag as those without. With ROCEPROOF_RESPONDER defined it
// has a responder, and the ports of the contract's version 2 for it; with
// ROCEPROOF_MEMORY_READS besides, that serves RDMA READ, too, and where the
// parameters say so, atomics, SEND with invalidate, SEND on UD and notifications of
// congestion; and where Reads
// does, it sends RDMA READ and atomics on RC. With ENDPOINT_MAC defined a MAC says when a request has left: tx_request_o goes
// with the last beat of each, and tx_left_i tells that the oldest is gone.

`default_nettype none

module roce_endpoint
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400,
  parameter int unsigned Qps       = 16,
  parameter int unsigned Recovery  = 0,  // 1: RC repeats what is lost
  parameter int unsigned Ipv6      = 0,  // 1: peers may have IPv6 addresses
  parameter int unsigned Vlan      = 0,  // 1: frames may have a VLAN tag
  parameter int unsigned Credits   = 0,  // 1: RC obeys end-to-end credits
  parameter int unsigned Reacts    = 0,  // 1: notifications of congestion slow queue pairs down
  parameter int unsigned RateNs    = 55_000,  // each time so long without one their rate rises
  parameter int unsigned Slowest   = 64  // one of so many parts of the line's rate is left
`ifdef ROCEPROOF_RESPONDER
  ,
  parameter int unsigned Regions     = 16,
  parameter int unsigned Invalidates = 0,  // 1: SEND with invalidate is served
  parameter int unsigned Atomics     = 0,  // 1: atomics are, which needs memory reads
  parameter int unsigned Datagrams   = 0,  // 1: SEND on UD is, and sent
  parameter int unsigned Shared      = 0,  // 1: there are shared receive queues
  parameter int unsigned Reads       = 0,  // 1: READs and atomics are sent
  parameter int unsigned Notifies    = 0,  // 1: marks of congestion are told to the peer
  parameter int unsigned NoticeNs    = 50_000  // so far apart, on one queue pair
`endif
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [127:0]           port_gid_i,
  input  wire logic                   qpc_valid_i,
  output logic                        qpc_ready_o,
  input  wire qp_config_t             qpc_i,
  input  wire logic                   wr_valid_i,
  output logic                        wr_ready_o,
  input  wire work_request_t          wr_i,
  input  wire logic [DataWidth-1:0]   pl_tdata_i,
  input  wire logic [DataWidth/8-1:0] pl_tkeep_i,
  input  wire logic                   pl_tvalid_i,
  input  wire logic                   pl_tlast_i,
  output logic                        pl_tready_o,
  output logic                        cpl_valid_o,
  input  wire logic                   cpl_ready_i,
  output completion_t                 cpl_o,
  output logic      [DataWidth-1:0]   tx_tdata_o,
  output logic      [DataWidth/8-1:0] tx_tkeep_o,
  output logic                        tx_tvalid_o,
  output logic                        tx_tlast_o,
  output logic                        tx_tuser_o,
  input  wire logic                   tx_tready_i,
  input  wire logic [DataWidth-1:0]   rx_tdata_i,
  input  wire logic [DataWidth/8-1:0] rx_tkeep_i,
  input  wire logic                   rx_tvalid_i,
  input  wire logic                   rx_tlast_i,
  input  wire logic                   rx_tuser_i,
  output logic                        rx_tready_o
`ifdef ROCEPROOF_RESPONDER
  ,
  input  wire logic                   mr_valid_i,
  output logic                        mr_ready_o,
  input  wire memory_region_t         mr_i,
  input  wire logic                   rcv_valid_i,
  output logic                        rcv_ready_o,
  input  wire receive_t               rcv_i,
  output logic                        rcp_valid_o,
  input  wire logic                   rcp_ready_i,
  output receive_completion_t         rcp_o,
  output logic                        mwc_valid_o,
  input  wire logic                   mwc_ready_i,
  output memory_command_t             mwc_o,
  output logic      [DataWidth-1:0]   mwd_tdata_o,
  output logic      [DataWidth/8-1:0] mwd_tkeep_o,
  output logic                        mwd_tvalid_o,
  output logic                        mwd_tlast_o,
  input  wire logic                   mwd_tready_i,
  input  wire logic                   mdn_valid_i,
  input  wire memory_done_t           mdn_i
`endif
`ifdef ROCEPROOF_MEMORY_READS
  ,
  output logic                        mrc_valid_o,
  input  wire logic                   mrc_ready_i,
  output memory_command_t             mrc_o,
  input  wire logic [DataWidth-1:0]   mrd_tdata_i,
  input  wire logic [DataWidth/8-1:0] mrd_tkeep_i,
  input  wire logic                   mrd_tvalid_i,
  input  wire logic                   mrd_tlast_i,
  output logic                        mrd_tready_o
`endif
`ifdef ENDPOINT_MAC
  ,
  output logic                        tx_request_o,
  input  wire logic                   tx_left_i
`endif
);

  if (!(DataWidth inside {64, 128, 256, 512, 1024})) begin : gen_bad_width
    $error("DataWidth must be 64, 128, 256, 512 or 1024");
  end

  logic [31:0]                 port_ipv4;
  logic [127:0]                port_ipv6;
  qp_config_t                  sender_config;  // as the transmit half is told it
  logic                        response_valid, response_ready, notice_valid;
  roce_pkg::response_t         response;
  roce_pkg::notice_t           notice;

  logic [DataWidth-1:0]        request_tdata, reply_tdata;
  logic [DataWidth/8-1:0]      request_tkeep, reply_tkeep;
  logic                        request_tvalid, request_tlast, request_tready;
  logic                        request_taken, request_left;  // the last beat of one
  logic                        reply_tvalid, reply_tlast, reply_tready;
  roce_pkg::vlan_tag_t         request_tag, reply_tag;

  // Frames without tags, as all but the port sees them; the tag is beside them.
  logic [DataWidth-1:0]        sent_tdata, got_tdata;
  logic [DataWidth/8-1:0]      sent_tkeep, got_tkeep;
  logic                        sent_tvalid, sent_tlast, sent_tready, sent_is_request, sent_left;
  logic                        got_tvalid, got_tlast, got_tuser, got_tready;
  roce_pkg::vlan_tag_t         sent_tag, got_tag;

  // What answers besides the transmitter, and when the responder can take frames.
  logic [DataWidth-1:0]         aside_tdata;
  logic [DataWidth/8-1:0]       aside_tkeep;
  logic                         aside_tvalid, aside_tlast, aside_tready;
  roce_pkg::vlan_tag_t          aside_tag;
  logic                         requests_ready, qpc_valid, qpc_ready;

  localparam int unsigned       BeatBits = 16 - $clog2(DataWidth / 8);
  logic                         frame_taken, window_valid, window_last;
  logic [DataWidth-1:0]         window_data;
  logic [BeatBits-1:0]          window_beat;
  rx_header_pkg::window_t       window;
  logic                         parsed_valid, parsed_last, verdict_valid, icrc_ok;
  rx_header_pkg::frame_kind_t   kind;
  rx_header_pkg::frame_header_t header;
  roce_pkg::ipv6_t              ipv6;

  // What answers to READs and atomics of the endpoint's own need.
  logic                         may_configure, ask_room, landed, tracker_ready, tracked_valid;
  roce_pkg::response_t          tracked;
  roce_tx_pkg::fault_t          fault;
  reads_pkg::event_t            event_of_requester;

`ifndef ROCEPROOF_RESPONDER
  localparam int unsigned Reads     = 0;
  localparam int unsigned Datagrams = 0;
`endif

  assign port_ipv4 = port_gid_i[31:0];
  assign port_ipv6 = Ipv6 != 0 ? roce_pkg::own_ipv6(port_mac_i, port_gid_i) : '0;

  requester #(
    .DataWidth(DataWidth),
    .ClockPs  (ClockPs),
    .Qps      (Qps),
    .Recovery (Recovery),
    .Ipv6     (Ipv6),
    .Vlan     (Vlan),
    .Reads    (Reads),
    .Datagrams(Datagrams),
    .Credits  (Credits),
    .Reacts   (Reacts),
    .Period   ((RateNs * 1000 + ClockPs - 1) / ClockPs),
    .Slowest  (Slowest)
  ) u_requester (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_ipv4_i     (port_ipv4),
    .port_ipv6_i     (port_ipv6),
    .hold_i          (qpc_valid_i),
    .qpc_valid_i     (qpc_valid),
    .qpc_ready_o     (qpc_ready),
    .config_i        (sender_config),
    .wr_valid_i,
    .wr_ready_o,
    .wr_i,
    .pl_tdata_i,
    .pl_tvalid_i,
    .pl_tlast_i,
    .pl_tready_o,
    .cpl_valid_o,
    .cpl_ready_i,
    .cpl_o,
    .notice_valid_i  (notice_valid),
    .notice_i        (notice),
    .response_valid_i(tracked_valid),
    .response_ready_o(tracker_ready),
    .response_i      (tracked),
    .fault_i         (fault),
    .event_o         (event_of_requester),
    .ask_room_i      (ask_room),
    .landed_i        (landed),
    .fenced_i        (may_configure),
    .m_tdata_o       (request_tdata),
    .m_tkeep_o       (request_tkeep),
    .m_tvalid_o      (request_tvalid),
    .m_tlast_o       (request_tlast),
    .m_tag_o         (request_tag),
    .m_tready_i      (request_tready),
    .left_i          (request_left)
  );

  rx_path #(
    .DataWidth(DataWidth),
    .Ipv6     (Ipv6),
    .Reacts   (Reacts)
  ) u_rx_path (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_gid_i,
    .port_ipv6_i     (port_ipv6),
    .rx_tdata_i      (got_tdata),
    .rx_tkeep_i      (got_tkeep),
    .rx_tvalid_i     (got_tvalid),
    .rx_tlast_i      (got_tlast),
    .rx_tuser_i      (got_tuser),
    .rx_tag_i        (got_tag),
    .rx_tready_o     (got_tready),
    .response_valid_o(response_valid),
    .response_ready_i(response_ready),
    .response_o      (response),
    .notice_valid_o  (notice_valid),
    .notice_o        (notice),
    .reply_tdata_o   (reply_tdata),
    .reply_tkeep_o   (reply_tkeep),
    .reply_tvalid_o  (reply_tvalid),
    .reply_tlast_o   (reply_tlast),
    .reply_tag_o     (reply_tag),
    .reply_tready_i  (reply_tready),
    .requests_ready_i(requests_ready),
    .frame_taken_o   (frame_taken),
    .window_valid_o  (window_valid),
    .window_data_o   (window_data),
    .window_last_o   (window_last),
    .window_beat_o   (window_beat),
    .window_o        (window),
    .parsed_valid_o  (parsed_valid),
    .parsed_last_o   (parsed_last),
    .kind_o          (kind),
    .header_o        (header),
    .ipv6_o          (ipv6),
    .verdict_valid_o (verdict_valid),
    .icrc_ok_o       (icrc_ok)
  );

  frame_mux #(
    .DataWidth(DataWidth)
  ) u_frame_mux (
    .clk_i,
    .rst_ni,
    .a_tdata_i (request_tdata),
    .a_tkeep_i (request_tkeep),
    .a_tvalid_i(request_tvalid),
    .a_tlast_i (request_tlast),
    .a_tag_i   (request_tag),
    .a_tready_o(request_tready),
    .a_left_o  (sent_left),
    .b_tdata_i (aside_tdata),
    .b_tkeep_i (aside_tkeep),
    .b_tvalid_i(aside_tvalid),
    .b_tlast_i (aside_tlast),
    .b_tag_i   (aside_tag),
    .b_tready_o(aside_tready),
    .m_tdata_o (sent_tdata),
    .m_tkeep_o (sent_tkeep),
    .m_tvalid_o(sent_tvalid),
    .m_tlast_o (sent_tlast),
    .m_tag_o   (sent_tag),
    .m_from_a_o(sent_is_request),
    .m_tready_i(sent_tready)
  );

  if (Vlan != 0) begin : gen_vlan
    logic tx_is_request, unused_left;

    vlan_insert #(
      .DataWidth(DataWidth)
    ) u_vlan_insert (
      .clk_i,
      .rst_ni,
      .s_tdata_i (sent_tdata),
      .s_tkeep_i (sent_tkeep),
      .s_tvalid_i(sent_tvalid),
      .s_tlast_i (sent_tlast),
      .s_tag_i   (sent_tag),
      .s_mark_i  (sent_is_request),
      .s_tready_o(sent_tready),
      .m_tdata_o (tx_tdata_o),
      .m_tkeep_o (tx_tkeep_o),
      .m_tvalid_o(tx_tvalid_o),
      .m_tlast_o (tx_tlast_o),
      .m_mark_o  (tx_is_request),
      .m_tready_i(tx_tready_i)
    );

    vlan_remove #(
      .DataWidth(DataWidth)
    ) u_vlan_remove (
      .clk_i,
      .rst_ni,
      .s_tdata_i (rx_tdata_i),
      .s_tkeep_i (rx_tkeep_i),
      .s_tvalid_i(rx_tvalid_i),
      .s_tlast_i (rx_tlast_i),
      .s_tuser_i (rx_tuser_i),
      .s_tready_o(rx_tready_o),
      .m_tdata_o (got_tdata),
      .m_tkeep_o (got_tkeep),
      .m_tvalid_o(got_tvalid),
      .m_tlast_o (got_tlast),
      .m_tuser_o (got_tuser),
      .m_tag_o   (got_tag),
      .m_tready_i(got_tready)
    );

    assign unused_left   = sent_left;
    assign request_taken = tx_tvalid_o && tx_tready_i && tx_tlast_o && tx_is_request;
  end else begin : gen_no_vlan
    logic unused_tags;
    assign unused_tags   = ^{sent_tag, sent_is_request};
    assign tx_tdata_o    = sent_tdata;
    assign tx_tkeep_o    = sent_tkeep;
    assign tx_tvalid_o   = sent_tvalid;
    assign tx_tlast_o    = sent_tlast;
    assign sent_tready   = tx_tready_i;
    assign request_taken = sent_left;
    assign got_tdata     = rx_tdata_i;
    assign got_tkeep     = rx_tkeep_i;
    assign got_tvalid    = rx_tvalid_i;
    assign got_tlast     = rx_tlast_i;
    assign got_tuser     = rx_tuser_i;
    assign got_tag       = '0;
    assign rx_tready_o   = got_tready;
  end

  assign tx_tuser_o = 1'b0;

`ifdef ENDPOINT_MAC
  assign tx_request_o = request_taken;
  assign request_left = tx_left_i;
`else
  assign request_left = request_taken;
`endif

  if (Reads == 0) begin : gen_acknowledges_alone
    logic unused_event;
    assign unused_event   = ^event_of_requester;
    assign may_configure  = 1'b1;
    assign ask_room       = 1'b1;
    assign landed         = 1'b1;
    assign tracked_valid  = response_valid;
    assign tracked        = response;
    assign fault          = '0;
    assign response_ready = tracker_ready;
  end

`ifdef ROCEPROOF_RESPONDER
  logic                   responder_qpc_valid, responder_qpc_ready;
  logic [DataWidth-1:0]   answer_tdata;
  logic [DataWidth/8-1:0] answer_tkeep;
  logic                   answer_tvalid, answer_tlast, answer_tready;
  logic                   unused_answer, unused_answer_left;
  roce_pkg::vlan_tag_t    answer_tag;

  logic                   read_valid, read_ready, read_tvalid, read_tready;
  memory_command_t        read;
  logic [DataWidth-1:0]   read_tdata;
  logic [DataWidth/8-1:0] read_tkeep;

`ifdef ROCEPROOF_MEMORY_READS
  localparam bit ServesReads = 1'b1;

  logic unused_read_tlast;
  assign unused_read_tlast = mrd_tlast_i;
  assign mrc_valid_o       = read_valid;
  assign mrc_o             = read;
  assign read_ready        = mrc_ready_i;
  assign read_tdata        = mrd_tdata_i;
  assign read_tkeep        = mrd_tkeep_i;
  assign read_tvalid       = mrd_tvalid_i;
  assign mrd_tready_o      = read_tready;
`else
  localparam bit ServesReads = 1'b0;

  if (Atomics != 0) begin : gen_no_reads
    $error("atomics read memory: define ROCEPROOF_MEMORY_READS");
  end

  logic unused_reads;
  assign unused_reads = ^{read_valid, read, read_tready};
  assign read_ready   = 1'b0;
  assign read_tdata   = '0;
  assign read_tkeep   = '0;
  assign read_tvalid  = 1'b0;
`endif

  // The transmit half knows Reset and Activate alone. A queue pair that may not
  // send yet, or no more, is to it as one of a path MTU that there is not.
  always_comb begin
    sender_config = qpc_i;
    if (qpc_i.command inside {QpInit, QpRtr, QpError}) sender_config.path_mtu = path_mtu_e'(0);
    if (qpc_i.command != QpReset) sender_config.command = QpActivate;
  end

  stream_fork u_qpc_fork (
    .clk_i,
    .rst_ni,
    .s_valid_i(qpc_valid_i),
    .s_ready_o(qpc_ready_o),
    .a_valid_o(qpc_valid),
    .a_ready_i(qpc_ready),
    .b_valid_o(responder_qpc_valid),
    .b_ready_i(responder_qpc_ready)
  );

  // Writes of the responder; where there are no others, those of the endpoint.
  logic                   region_valid, region_ready, write_valid, write_ready;
  memory_command_t        write;
  logic [DataWidth-1:0]   write_tdata;
  logic [DataWidth/8-1:0] write_tkeep;
  logic                   write_tvalid, write_tlast, write_tready, write_done, responder_ready;

  if (Reads != 0) begin : gen_reads
    logic                   answer_region_valid, answer_region_ready, answers_ready;
    logic                   data_valid, data_ready, data_done;
    memory_command_t        data;
    logic [DataWidth-1:0]   data_tdata;
    logic [DataWidth/8-1:0] data_tkeep;
    logic                   data_tvalid, data_tlast, data_tready;

    stream_fork u_region_fork (
      .clk_i,
      .rst_ni,
      .s_valid_i(mr_valid_i),
      .s_ready_o(mr_ready_o),
      .a_valid_o(region_valid),
      .a_ready_i(region_ready),
      .b_valid_o(answer_region_valid),
      .b_ready_i(answer_region_ready)
    );

    answer_path #(
      .DataWidth(DataWidth),
      .Qps      (Qps),
      .Regions  (Regions),
      .Ipv6     (Ipv6)
    ) u_answers (
      .clk_i,
      .rst_ni,
      .qpc_valid_i     (qpc_valid),
      .qpc_ready_i     (qpc_ready),
      .config_i        (sender_config),
      .fenced_o        (may_configure),
      .event_i         (event_of_requester),
      .ask_room_o      (ask_room),
      .landed_o        (landed),
      .region_valid_i  (answer_region_valid),
      .region_ready_o  (answer_region_ready),
      .region_i        (mr_i),
      .frame_taken_i   (frame_taken),
      .ready_o         (answers_ready),
      .valid_i         (window_valid),
      .data_i          (window_data),
      .last_i          (window_last),
      .beat_i          (window_beat),
      .window_i        (window),
      .parsed_valid_i  (parsed_valid),
      .parsed_last_i   (parsed_last),
      .kind_i          (kind),
      .header_i        (header),
      .ipv6_i          (ipv6),
      .verdict_valid_i (verdict_valid),
      .icrc_ok_i       (icrc_ok),
      .response_valid_o(tracked_valid),
      .response_ready_i(tracker_ready),
      .response_o      (tracked),
      .fault_o         (fault),
      .write_valid_o   (data_valid),
      .write_ready_i   (data_ready),
      .write_o         (data),
      .write_tdata_o   (data_tdata),
      .write_tkeep_o   (data_tkeep),
      .write_tvalid_o  (data_tvalid),
      .write_tlast_o   (data_tlast),
      .write_tready_i  (data_tready),
      .done_valid_i    (data_done)
    );

    write_mux #(
      .DataWidth(DataWidth)
    ) u_write_mux (
      .clk_i,
      .rst_ni,
      .a_valid_i   (write_valid),
      .a_ready_o   (write_ready),
      .a_i         (write),
      .a_tdata_i   (write_tdata),
      .a_tkeep_i   (write_tkeep),
      .a_tvalid_i  (write_tvalid),
      .a_tlast_i   (write_tlast),
      .a_tready_o  (write_tready),
      .a_done_o    (write_done),
      .b_valid_i   (data_valid),
      .b_ready_o   (data_ready),
      .b_i         (data),
      .b_tdata_i   (data_tdata),
      .b_tkeep_i   (data_tkeep),
      .b_tvalid_i  (data_tvalid),
      .b_tlast_i   (data_tlast),
      .b_tready_o  (data_tready),
      .b_done_o    (data_done),
      .m_valid_o   (mwc_valid_o),
      .m_ready_i   (mwc_ready_i),
      .m_o         (mwc_o),
      .m_tdata_o   (mwd_tdata_o),
      .m_tkeep_o   (mwd_tkeep_o),
      .m_tvalid_o  (mwd_tvalid_o),
      .m_tlast_o   (mwd_tlast_o),
      .m_tready_i  (mwd_tready_i),
      .done_valid_i(mdn_valid_i),
      .done_i      (mdn_i)
    );

    // ACKNOWLEDGEs come with the answers.
    logic unused_response;
    assign unused_response = ^{response_valid, response};
    assign response_ready  = 1'b1;
    assign requests_ready  = responder_ready && answers_ready;
  end else begin : gen_responder_alone
    assign region_valid   = mr_valid_i;
    assign mr_ready_o     = region_ready;
    assign mwc_valid_o    = write_valid;
    assign write_ready    = mwc_ready_i;
    assign mwc_o          = write;
    assign mwd_tdata_o    = write_tdata;
    assign mwd_tkeep_o    = write_tkeep;
    assign mwd_tvalid_o   = write_tvalid;
    assign mwd_tlast_o    = write_tlast;
    assign write_tready   = mwd_tready_i;
    assign write_done     = mdn_valid_i;
    assign requests_ready = responder_ready;
  end

  responder #(
    .DataWidth(DataWidth),
    .Qps      (Qps),
    .Regions  (Regions),
    .Serves   ('{reads: ServesReads, atomics: Atomics != 0, datagrams: Datagrams != 0,
                 invalidate: Invalidates != 0, shared: Shared != 0, ipv6: Ipv6 != 0, vlan: Vlan != 0}),
    .NoticeCycles(Notifies != 0 ? (NoticeNs * 1000 + ClockPs - 1) / ClockPs : 0)
  ) u_responder (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_ipv4_i       (port_ipv4),
    .port_ipv6_i       (port_ipv6),
    .qpc_valid_i       (responder_qpc_valid),
    .qpc_ready_o       (responder_qpc_ready),
    .config_i          (qpc_i),
    .region_valid_i    (region_valid),
    .region_ready_o    (region_ready),
    .region_i          (mr_i),
    .receive_valid_i   (rcv_valid_i),
    .receive_ready_o   (rcv_ready_o),
    .receive_i         (rcv_i),
    .completion_valid_o(rcp_valid_o),
    .completion_ready_i(rcp_ready_i),
    .completion_o      (rcp_o),
    .frame_taken_i     (frame_taken),
    .ready_o           (responder_ready),
    .valid_i           (window_valid),
    .data_i            (window_data),
    .last_i            (window_last),
    .beat_i            (window_beat),
    .window_i          (window),
    .parsed_valid_i    (parsed_valid),
    .parsed_last_i     (parsed_last),
    .kind_i            (kind),
    .header_i          (header),
    .ipv6_i            (ipv6),
    .verdict_valid_i   (verdict_valid),
    .icrc_ok_i         (icrc_ok),
    .write_valid_o     (write_valid),
    .write_ready_i     (write_ready),
    .write_o           (write),
    .write_tdata_o     (write_tdata),
    .write_tkeep_o     (write_tkeep),
    .write_tvalid_o    (write_tvalid),
    .write_tlast_o     (write_tlast),
    .write_tready_i    (write_tready),
    .done_valid_i      (write_done),
    .done_i            (mdn_i),
    .read_valid_o      (read_valid),
    .read_ready_i      (read_ready),
    .read_o            (read),
    .read_tdata_i      (read_tdata),
    .read_tkeep_i      (read_tkeep),
    .read_tvalid_i     (read_tvalid),
    .read_tready_o     (read_tready),
    .m_tdata_o         (answer_tdata),
    .m_tkeep_o         (answer_tkeep),
    .m_tvalid_o        (answer_tvalid),
    .m_tlast_o         (answer_tlast),
    .m_tag_o           (answer_tag),
    .m_tready_i        (answer_tready)
  );

  frame_mux #(
    .DataWidth(DataWidth)
  ) u_aside_mux (
    .clk_i,
    .rst_ni,
    .a_tdata_i (answer_tdata),
    .a_tkeep_i (answer_tkeep),
    .a_tvalid_i(answer_tvalid),
    .a_tlast_i (answer_tlast),
    .a_tag_i   (answer_tag),
    .a_tready_o(answer_tready),
    .a_left_o  (unused_answer_left),
    .b_tdata_i (reply_tdata),
    .b_tkeep_i (reply_tkeep),
    .b_tvalid_i(reply_tvalid),
    .b_tlast_i (reply_tlast),
    .b_tag_i   (reply_tag),
    .b_tready_o(reply_tready),
    .m_tdata_o (aside_tdata),
    .m_tkeep_o (aside_tkeep),
    .m_tvalid_o(aside_tvalid),
    .m_tlast_o (aside_tlast),
    .m_tag_o   (aside_tag),
    .m_from_a_o(unused_answer),
    .m_tready_i(aside_tready)
  );
`else
  logic unused_streams;
  assign unused_streams = ^{frame_taken, window_valid, window_data, window_last, window_beat,
                            window, parsed_valid, parsed_last, kind, header, ipv6, verdict_valid,
                            icrc_ok};
  assign sender_config  = qpc_i;
  assign requests_ready = 1'b1;
  assign qpc_valid      = qpc_valid_i;
  assign qpc_ready_o    = qpc_ready;
  assign aside_tdata    = reply_tdata;
  assign aside_tkeep    = reply_tkeep;
  assign aside_tvalid   = reply_tvalid;
  assign aside_tlast    = reply_tlast;
  assign aside_tag      = reply_tag;
  assign reply_tready   = aside_tready;
`endif

endmodule

`default_nettype wire
