// SPDX-License-Identifier: BSD-2-Clause
//
// The reference RoCEv2 endpoint, with the ports of the DUT contract
// (docs/dut-contract.md). Sends SEND and RDMA WRITE, with and without
// immediate, on RC and UC over IPv4; takes RC acknowledgements, answers ARP
// and ICMP echo. It does not retransmit.

`default_nettype none

module roce_endpoint
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400,
  parameter int unsigned Qps       = 16
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
);

  if (!(DataWidth inside {64, 128, 256, 512, 1024})) begin : gen_bad_width
    $error("DataWidth must be 64, 128, 256, 512 or 1024");
  end

  localparam int unsigned InFlight  = 16;
  localparam int unsigned WaitBits  = $clog2(InFlight + 1);
  localparam int unsigned IndexBits = $clog2(Qps);

  logic                        ready;
  logic                        configure;
  logic                        failed;
  logic [IndexBits-1:0]        failed_index;
  logic                        start_valid, start_ready, start_refused;
  roce_tx_pkg::message_start_t start;
  roce_tx_pkg::generation_t    start_generation;
  logic                        departed_valid, departed_ready, departure_owed, departure_popped;
  roce_tx_pkg::departure_t     departed;
  logic [WaitBits-1:0]         departures;
  logic                        sent_valid, sent_ready;
  completion_t                 sent;
  logic                        answered_valid, answered_ready;
  completion_t                 answered;
  logic                        response_valid, response_ready;
  roce_pkg::response_t         response;

  logic [DataWidth-1:0]        request_tdata, reply_tdata;
  logic [DataWidth/8-1:0]      request_tkeep, reply_tkeep;
  logic                        request_tvalid, request_tlast, request_tready, request_left;
  logic                        reply_tvalid, reply_tlast, reply_tready;

  tx_path #(
    .DataWidth(DataWidth),
    .Qps      (Qps),
    .InFlight (InFlight)
  ) u_tx_path (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_ipv4_i       (port_gid_i[31:0]),
    .ready_o           (ready),
    .hold_i            (qpc_valid_i),
    .configure_i       (configure),
    .config_i          (qpc_i),
    .wr_valid_i,
    .wr_ready_o,
    .wr_i,
    .pl_tdata_i,
    .pl_tvalid_i,
    .pl_tlast_i,
    .pl_tready_o,
    .failed_i          (failed),
    .failed_index_i    (failed_index),
    .start_valid_o     (start_valid),
    .start_ready_i     (start_ready),
    .start_o           (start),
    .start_refused_i   (start_refused),
    .start_generation_i(start_generation),
    .departed_valid_o  (departed_valid),
    .departed_ready_i  (departed_ready),
    .departed_o        (departed),
    .departure_owed_o  (departure_owed),
    .departures_o      (departures),
    .departure_popped_o(departure_popped),
    .completion_valid_o(sent_valid),
    .completion_ready_i(sent_ready),
    .completion_o      (sent),
    .m_tdata_o         (request_tdata),
    .m_tkeep_o         (request_tkeep),
    .m_tvalid_o        (request_tvalid),
    .m_tlast_o         (request_tlast),
    .m_tready_i        (request_tready),
    .left_i            (request_left)
  );

  rx_path #(
    .DataWidth(DataWidth)
  ) u_rx_path (
    .clk_i,
    .rst_ni,
    .port_mac_i,
    .port_gid_i,
    .rx_tdata_i,
    .rx_tkeep_i,
    .rx_tvalid_i,
    .rx_tlast_i,
    .rx_tuser_i,
    .rx_tready_o,
    .response_valid_o(response_valid),
    .response_ready_i(response_ready),
    .response_o      (response),
    .reply_tdata_o   (reply_tdata),
    .reply_tkeep_o   (reply_tkeep),
    .reply_tvalid_o  (reply_tvalid),
    .reply_tlast_o   (reply_tlast),
    .reply_tready_i  (reply_tready)
  );

  ack_tracker #(
    .ClockPs (ClockPs),
    .Qps     (Qps),
    .WaitBits(WaitBits)
  ) u_ack_tracker (
    .clk_i,
    .rst_ni,
    .configure_valid_i (qpc_valid_i && ready),
    .configure_ready_o (qpc_ready_o),
    .config_i          (qpc_i),
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
    .response_valid_i  (response_valid),
    .response_ready_o  (response_ready),
    .response_i        (response),
    .failed_o          (failed),
    .failed_index_o    (failed_index),
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

  frame_mux #(
    .DataWidth(DataWidth)
  ) u_frame_mux (
    .clk_i,
    .rst_ni,
    .a_tdata_i (request_tdata),
    .a_tkeep_i (request_tkeep),
    .a_tvalid_i(request_tvalid),
    .a_tlast_i (request_tlast),
    .a_tready_o(request_tready),
    .a_left_o  (request_left),
    .b_tdata_i (reply_tdata),
    .b_tkeep_i (reply_tkeep),
    .b_tvalid_i(reply_tvalid),
    .b_tlast_i (reply_tlast),
    .b_tready_o(reply_tready),
    .m_tdata_o (tx_tdata_o),
    .m_tkeep_o (tx_tkeep_o),
    .m_tvalid_o(tx_tvalid_o),
    .m_tlast_o (tx_tlast_o),
    .m_tready_i(tx_tready_i)
  );

  assign tx_tuser_o = 1'b0;

endmodule

`default_nettype wire
