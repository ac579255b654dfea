// SPDX-License-Identifier: BSD-2-Clause
//
// The receive side of the queue pair: responder, receive queue and memory, and the
// acknowledgement as an order.

`default_nettype none

module be_receive_side
  import be_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        begin_i,     // the queue pair starts anew
  input  wire queue_pair_t qp_i,
  input  wire logic        active_i,    // there is a queue pair
  input  wire logic        failed_i,    // and it has failed
  input  wire logic [15:0] ip_id_i,

  input  wire logic        start_i,     // a request is held; it stays until done
  input  wire header_t     header_i,
  input  wire logic [15:0] payload_i,
  output logic             done_o,
  output logic             fails_o,     // at the same time: the queue pair shall fail
  output logic             send_o,      // at the same time: the answer, of order_o
  output order_t           order_o,
  output logic [13:0]      index_o,     // byte of the frame that is wanted
  input  wire logic [7:0]  byte_i,

  input  wire logic        rcv_valid_i,
  output logic             rcv_ready_o,
  input  wire logic [31:0] rcv_qpn_i,
  input  wire waiting_t    rcv_i,
  output logic             rcp_valid_o,
  output received_t        rcp_o,
  input  wire logic        rcp_ready_i
);

  logic        waits, take, flushes, received_valid, write, is_busy;
  waiting_t    head;
  received_t   received;
  logic [14:0] place;
  logic [7:0]  write_byte, syndrome;
  logic [23:0] psn, msn;

  // A receive of a queue pair that does not exist is forgotten.
  logic is_mine;
  assign is_mine = active_i && rcv_qpn_i == 32'(qp_i.qpn);

  be_receives u_receives (
    .clk_i,
    .rst_ni,
    .clear_i  (begin_i || !active_i),
    .flush_i  (failed_i && !is_busy),
    .valid_i  (rcv_valid_i && is_mine),
    .ready_o  (rcv_ready_o),
    .receive_i(rcv_i),
    .valid_o  (waits),
    .head_o   (head),
    .take_i   (take),
    .flushes_o(flushes),
    .flushed_i(rcp_ready_i && !received_valid)
  );

  be_responder u_responder (
    .clk_i,
    .rst_ni,
    .begin_i,
    .qp_i,
    .flush_i         (failed_i),
    .start_i,
    .header_i,
    .payload_i,
    .done_o,
    .failed_o        (fails_o),
    .index_o,
    .byte_i,
    .send_o,
    .syndrome_o      (syndrome),
    .psn_o           (psn),
    .msn_o           (msn),
    .waits_i         (waits),
    .receive_i       (head),
    .take_o          (take),
    .is_busy_o       (is_busy),
    .received_valid_o(received_valid),
    .received_o      (received),
    .received_ready_i(rcp_ready_i),
    .write_o         (write),
    .place_o         (place),
    .byte_o          (write_byte)
  );

  be_memory u_memory (
    .clk_i,
    .write_i  (write),
    .address_i(place),
    .byte_i   (write_byte)
  );

  always_comb begin
    rcp_valid_o = received_valid || flushes;
    rcp_o       = received;
    if (!received_valid) rcp_o = '{wr_id: head.wr_id, status: WrFlushErr, default: '0};

    order_o           = '0;
    order_o.kind      = FrameRoce;
    order_o.mac       = qp_i.mac;
    order_o.ip        = qp_i.ip;
    order_o.sport     = qp_i.sport;
    order_o.tos       = qp_i.tos;
    order_o.ttl       = qp_i.ttl;
    order_o.ip_id     = ip_id_i;
    order_o.opcode    = 8'h11;
    order_o.qpn       = qp_i.remote_qpn;
    order_o.psn       = psn;
    order_o.ext_bytes = 5'd4;
    order_o.ext       = {syndrome, msn, 128'd0};
  end

endmodule

`default_nettype wire
