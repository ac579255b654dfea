// SPDX-License-Identifier: BSD-2-Clause
//
// The receive half of the endpoint. Frames from the wire become
//   * responses: RC ACKNOWLEDGE packets for this port whose ICRC is right,
//   * with Reacts notices: notifications of congestion (CNPs) whose ICRC is,
//   * replies: frames that answer ARP and ICMP echo requests, and with Ipv6 those of
//     ICMPv6 and neighbour solicitations.
// Everything else is dropped without a trace. Frames are taken at full rate;
// only responses that nobody takes stop the wire, replies never do. For a
// responder beside it (request_path.sv), the streams of its first stages go
// out, too, and it takes frames only while requests_ready_i is high. A tag that
// was taken out of a frame comes beside its last beat, and goes beside the reply.

`default_nettype none

module rx_path
  import rx_header_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned EchoBytes = 16384,
  parameter int unsigned Ipv6      = 0,
  parameter int unsigned Reacts    = 0,
  localparam int unsigned BeatBits = 16 - $clog2(DataWidth / 8)
) (
  input  wire logic                       clk_i,
  input  wire logic                       rst_ni,
  input  wire logic [47:0]                port_mac_i,
  input  wire logic [127:0]               port_gid_i,
  input  wire logic [127:0]               port_ipv6_i,

  input  wire logic [DataWidth-1:0]       rx_tdata_i,
  input  wire logic [DataWidth/8-1:0]     rx_tkeep_i,
  input  wire logic                       rx_tvalid_i,
  input  wire logic                       rx_tlast_i,
  input  wire logic                       rx_tuser_i,
  input  wire roce_pkg::vlan_tag_t        rx_tag_i,
  output      logic                       rx_tready_o,

  output      logic                       response_valid_o,
  input  wire logic                       response_ready_i,
  output      roce_pkg::response_t        response_o,
  output      logic                       notice_valid_o,
  output      roce_pkg::notice_t          notice_o,

  output      logic [DataWidth-1:0]       reply_tdata_o,
  output      logic [DataWidth/8-1:0]     reply_tkeep_o,
  output      logic                       reply_tvalid_o,
  output      logic                       reply_tlast_o,
  output      roce_pkg::vlan_tag_t        reply_tag_o,
  input  wire logic                       reply_tready_i,

  input  wire logic                       requests_ready_i,
  output      logic                       frame_taken_o,
  output      logic                       window_valid_o,
  output      logic [DataWidth-1:0]       window_data_o,
  output      logic                       window_last_o,
  output      logic [BeatBits-1:0]        window_beat_o,
  output      window_t                    window_o,
  output      logic                       parsed_valid_o,
  output      logic                       parsed_last_o,
  output      frame_kind_t                kind_o,
  output      frame_header_t              header_o,
  output      roce_pkg::ipv6_t            ipv6_o,
  output      logic                       verdict_valid_o,
  output      logic                       icrc_ok_o
);

  // Frames between the wire and their verdict. Enough for one frame in every
  // beat at the widest stream's latency.
  localparam int unsigned MaxFrames = 16;

  logic                 window_valid, window_last, discard;
  logic [DataWidth-1:0] window_data;
  logic [BeatBits-1:0]  window_beat;
  window_t              window;
  icrc_pkg::position_t  length;
  rx_window #(
    .DataWidth(DataWidth)
  ) u_window (
    .clk_i,
    .rst_ni,
    .valid_i  (rx_tvalid_i && rx_tready_o),
    .tdata_i  (rx_tdata_i),
    .tkeep_i  (rx_tkeep_i),
    .tlast_i  (rx_tlast_i),
    .tuser_i  (rx_tuser_i),
    .valid_o  (window_valid),
    .data_o   (window_data),
    .last_o   (window_last),
    .beat_o   (window_beat),
    .window_o (window),
    .length_o (length),
    .discard_o(discard)
  );

  logic                 parsed_valid, parsed_last;
  logic [DataWidth-1:0] parsed_data;
  logic [BeatBits-1:0]  parsed_beat;
  frame_kind_t          kind;
  frame_header_t        header;
  roce_pkg::ipv6_t      ipv6;
  rx_parser #(
    .DataWidth(DataWidth),
    .Ipv6     (Ipv6)
  ) u_parser (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_gid_i,
    .port_ipv6_i,
    .valid_i  (window_valid),
    .data_i   (window_data),
    .last_i   (window_last),
    .beat_i   (window_beat),
    .window_i (window),
    .length_i (length),
    .discard_i(discard),
    .valid_o  (parsed_valid),
    .data_o   (parsed_data),
    .last_o   (parsed_last),
    .beat_o   (parsed_beat),
    .kind_o   (kind),
    .header_o (header),
    .ipv6_o   (ipv6)
  );

  logic verdict_valid, is_roce, icrc_ok;
  icrc_check #(
    .DataWidth(DataWidth)
  ) u_icrc_check (
    .clk_i,
    .rst_ni,
    .valid_i        (window_valid),
    .data_i         (window_data),
    .last_i         (window_last),
    .beat_i         (window_beat),
    .window_i       (window),
    .length_i       (length),
    .discard_i      (discard),
    .verdict_valid_o(verdict_valid),
    .is_roce_o      (is_roce),
    .ok_o           (icrc_ok)
  );

  logic responses_ready;
  assign rx_tready_o     = responses_ready && requests_ready_i;
  assign frame_taken_o   = rx_tvalid_i && rx_tready_o && rx_tlast_i;
  assign window_valid_o  = window_valid;
  assign window_data_o   = window_data;
  assign window_last_o   = window_last;
  assign window_beat_o   = window_beat;
  assign window_o        = window;
  assign parsed_valid_o  = parsed_valid;
  assign parsed_last_o   = parsed_last;
  assign kind_o          = kind;
  assign header_o        = header;
  assign ipv6_o          = ipv6;
  assign verdict_valid_o = verdict_valid;
  assign icrc_ok_o       = is_roce && icrc_ok;

  rx_response_join #(
    .MaxFrames(MaxFrames),
    .Ipv6     (Ipv6)
  ) u_responses (
    .clk_i,
    .rst_ni,
    .frame_taken_i  (frame_taken_o),
    .ready_o        (responses_ready),
    .frame_valid_i  (parsed_valid && parsed_last),
    .is_ack_i       (kind.ack),
    .is_notice_i    (Reacts != 0 && kind.notice),
    .header_i       (header),
    .ipv6_i         (ipv6),
    .verdict_valid_i(verdict_valid),
    .icrc_ok_i      (is_roce && icrc_ok),
    .response_valid_o,
    .response_ready_i,
    .response_o,
    .notice_valid_o,
    .notice_o
  );

  logic [DataWidth-1:0]   arp_tdata, echo_tdata;
  logic [DataWidth/8-1:0] arp_tkeep, echo_tkeep;
  logic                   arp_tvalid, arp_tlast, arp_tready;
  logic                   echo_tvalid, echo_tlast, echo_tready;
  roce_pkg::vlan_tag_t    window_tag_q, parsed_tag_q, arp_tag, echo_tag;

  always_ff @(posedge clk_i) begin
    if (rx_tvalid_i && rx_tready_o) window_tag_q <= rx_tag_i;
    if (window_valid) parsed_tag_q <= window_tag_q;
  end

  arp_reply #(
    .DataWidth(DataWidth)
  ) u_arp_reply (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .request_i (kind.arp_request),
    .header_i  (header),
    .tag_i     (parsed_tag_q),
    .m_tdata_o (arp_tdata),
    .m_tkeep_o (arp_tkeep),
    .m_tvalid_o(arp_tvalid),
    .m_tlast_o (arp_tlast),
    .m_tag_o   (arp_tag),
    .m_tready_i(arp_tready)
  );

  icmp_echo #(
    .DataWidth(DataWidth),
    .EchoBytes(EchoBytes)
  ) u_icmp_echo (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .valid_i   (parsed_valid),
    .data_i    (parsed_data),
    .beat_i    (parsed_beat),
    .request_i (kind.echo_request),
    .header_i  (header),
    .ipv6_i    (ipv6),
    .tag_i     (parsed_tag_q),
    .m_tdata_o (echo_tdata),
    .m_tkeep_o (echo_tkeep),
    .m_tvalid_o(echo_tvalid),
    .m_tlast_o (echo_tlast),
    .m_tag_o   (echo_tag),
    .m_tready_i(echo_tready)
  );

  logic [DataWidth-1:0]   told_tdata;
  logic [DataWidth/8-1:0] told_tkeep;
  logic                   told_tvalid, told_tlast, told_tready, unused_told, unused_told_left;
  roce_pkg::vlan_tag_t    told_tag;

  if (Ipv6 != 0) begin : gen_ipv6
    logic [DataWidth-1:0]   neighbour_tdata;
    logic [DataWidth/8-1:0] neighbour_tkeep;
    logic                   neighbour_tvalid, neighbour_tlast, neighbour_tready;
    logic                   unused_arp, unused_arp_left;
    roce_pkg::vlan_tag_t    neighbour_tag;

    neighbour_reply #(
      .DataWidth(DataWidth)
    ) u_neighbour_reply (
      .clk_i,
      .rst_ni,
      .port_mac_i,
      .port_ipv6_i,
      .request_i   (kind.solicitation),
      .asker_mac_i (header.ethernet.src_mac),
      .asker_ipv6_i(ipv6.src),
      .tag_i       (parsed_tag_q),
      .m_tdata_o   (neighbour_tdata),
      .m_tkeep_o   (neighbour_tkeep),
      .m_tvalid_o  (neighbour_tvalid),
      .m_tlast_o   (neighbour_tlast),
      .m_tag_o     (neighbour_tag),
      .m_tready_i  (neighbour_tready)
    );

    frame_mux #(
      .DataWidth(DataWidth)
    ) u_told_mux (
      .clk_i,
      .rst_ni,
      .a_tdata_i (arp_tdata),
      .a_tkeep_i (arp_tkeep),
      .a_tvalid_i(arp_tvalid),
      .a_tlast_i (arp_tlast),
      .a_tag_i   (arp_tag),
      .a_tready_o(arp_tready),
      .a_left_o  (unused_arp_left),
      .b_tdata_i (neighbour_tdata),
      .b_tkeep_i (neighbour_tkeep),
      .b_tvalid_i(neighbour_tvalid),
      .b_tlast_i (neighbour_tlast),
      .b_tag_i   (neighbour_tag),
      .b_tready_o(neighbour_tready),
      .m_tdata_o (told_tdata),
      .m_tkeep_o (told_tkeep),
      .m_tvalid_o(told_tvalid),
      .m_tlast_o (told_tlast),
      .m_tag_o   (told_tag),
      .m_from_a_o(unused_arp),
      .m_tready_i(told_tready)
    );
  end else begin : gen_no_ipv6
    assign told_tdata  = arp_tdata;
    assign told_tkeep  = arp_tkeep;
    assign told_tvalid = arp_tvalid;
    assign told_tlast  = arp_tlast;
    assign told_tag    = arp_tag;
    assign arp_tready  = told_tready;
  end

  frame_mux #(
    .DataWidth(DataWidth)
  ) u_reply_mux (
    .clk_i,
    .rst_ni,
    .a_tdata_i (told_tdata),
    .a_tkeep_i (told_tkeep),
    .a_tvalid_i(told_tvalid),
    .a_tlast_i (told_tlast),
    .a_tag_i   (told_tag),
    .a_tready_o(told_tready),
    .a_left_o  (unused_told_left),
    .b_tdata_i (echo_tdata),
    .b_tkeep_i (echo_tkeep),
    .b_tvalid_i(echo_tvalid),
    .b_tlast_i (echo_tlast),
    .b_tag_i   (echo_tag),
    .b_tready_o(echo_tready),
    .m_tdata_o (reply_tdata_o),
    .m_tkeep_o (reply_tkeep_o),
    .m_tvalid_o(reply_tvalid_o),
    .m_tlast_o (reply_tlast_o),
    .m_tag_o   (reply_tag_o),
    .m_from_a_o(unused_told),
    .m_tready_i(reply_tready_i)
  );

endmodule

`default_nettype wire
