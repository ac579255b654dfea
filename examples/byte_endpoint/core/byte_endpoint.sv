// SPDX-License-Identifier: BSD-2-Clause
//
// A RoCEv2 endpoint on a byte-wide Ethernet MAC: one queue pair, memory of its own
// behind keys that are built in, and connection management for one service. It does
// one thing at a time: it answers the frame that it holds, or sends a packet of its own.

`default_nettype none

module byte_endpoint
  import be_pkg::*;
#(
  parameter int unsigned ClockPs = 8000
) (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [47:0] mac_i,
  input  wire logic [31:0] ip_i,

  input  wire logic        qp_valid_i,     // the owner begins or, if not `active`, forgets a pair
  output logic             qp_ready_o,
  input  wire logic        qp_active_i,
  input  wire queue_pair_t qp_i,

  input  wire logic        wr_valid_i,
  output logic             wr_ready_o,
  input  wire logic [63:0] wr_id_i,
  input  wire logic [31:0] wr_qpn_i,
  input  wire logic [7:0]  operation_i,
  input  wire logic        solicited_i,
  input  wire logic [63:0] va_i,
  input  wire logic [31:0] rkey_i,
  input  wire logic [31:0] length_i,
  input  wire logic [31:0] immediate_i,
  input  wire logic [7:0]  pl_tdata_i,
  input  wire logic        pl_tvalid_i,
  input  wire logic        pl_tlast_i,
  output logic             pl_tready_o,
  output logic             cpl_valid_o,
  output sent_t            cpl_o,
  input  wire logic        cpl_ready_i,

  input  wire logic        rcv_valid_i,
  output logic             rcv_ready_o,
  input  wire logic [31:0] rcv_qpn_i,
  input  wire waiting_t    rcv_i,
  output logic             rcp_valid_o,
  output received_t        rcp_o,
  output logic [23:0]      rcp_qpn_o,
  input  wire logic        rcp_ready_i,

  output logic             event_valid_o,  // of a connection that was made without the owner
  output logic [7:0]       event_o,
  output queue_pair_t      event_qp_o,
  input  wire logic        event_ready_i,

  input  wire logic [7:0]  rx_tdata_i,
  input  wire logic        rx_tvalid_i,
  input  wire logic        rx_tlast_i,
  input  wire logic        rx_tuser_i,
  output logic             rx_tready_o,
  output logic [7:0]       tx_tdata_o,
  output logic             tx_tvalid_o,
  output logic             tx_tlast_o,
  input  wire logic        tx_tready_i
);

  // The queue pair.
  queue_pair_t qp_q;
  logic active_q, ready_q, failed_q, owned_q, begin_q;

  // What is being done. Whoever wants to send has its order in the list below.
  typedef enum logic [2:0] { Idle, Manage, Respond, Send } job_e;
  job_e   job_q;
  order_t order_q;
  logic   is_request_q;
  logic [15:0] ip_id_q;   // of all but requests

  frame_e      kind;
  header_t     header;
  logic [11:0] payload;
  logic        release_frame;
  logic [10:0] frame_index;
  logic [7:0]  frame_byte;

  be_receiver u_receiver (
    .clk_i,
    .rst_ni,
    .mac_i,
    .ip_i,
    .tdata_i  (rx_tdata_i),
    .tvalid_i (rx_tvalid_i),
    .tlast_i  (rx_tlast_i),
    .tuser_i  (rx_tuser_i),
    .tready_o (rx_tready_o),
    .kind_o   (kind),
    .header_o (header),
    .payload_o(payload),
    .release_i(release_frame),
    .index_i  (frame_index),
    .byte_o   (frame_byte)
  );

  logic is_mine, is_for_cm, is_response;
  assign is_mine     = kind == FrameRoce && header.qpn == qp_q.qpn && active_q && !failed_q
                    && header.src_ip == qp_q.ip && header.opcode[7:5] == 3'b000;
  assign is_for_cm   = kind == FrameRoce && header.qpn == 24'd1;
  assign is_response = header.opcode inside {[8'h0D:8'h12]};

  logic        manage_start, manage_done, manage_send, connect, whole, close;
  logic        respond_start, respond_done, respond_fails, respond_send;
  logic        request_wanted, request_sent, request_fails, request_takes;
  order_t      manage_order, request_order;
  queue_pair_t connected;
  logic [10:0] manage_index, respond_index;
  logic [7:0]  mad_byte, message_byte, syndrome;
  logic [23:0] answer_psn, msn;
  logic [15:0] send_index;

  be_cm u_cm (
    .clk_i,
    .rst_ni,
    .ip_i,
    .start_i      (manage_start),
    .header_i     (header),
    .payload_i    (payload),
    .done_o       (manage_done),
    .send_o       (manage_send),
    .order_o      (manage_order),
    .index_o      (manage_index),
    .byte_i       (frame_byte),
    .mad_index_i  (send_index[7:0]),
    .mad_byte_o   (mad_byte),
    .owned_i      (owned_q),
    .request_i    (respond_start),
    .connect_o    (connect),
    .qp_o         (connected),
    .whole_o      (whole),
    .close_o      (close),
    .event_valid_o,
    .event_o,
    .event_ready_i
  );
  assign event_qp_o = connected;

  logic      waits, take, flushes, received_valid, write;
  waiting_t  head;
  received_t received;
  logic [14:0] place;
  logic [7:0]  write_byte;
  // A receive is taken behind the configuration that was offered before it; one of a queue
  // pair that does not exist is forgotten.
  logic rcv_is_mine, receives_ready, qp_changes;
  assign rcv_is_mine = active_q && rcv_qpn_i == 32'(qp_q.qpn);
  assign qp_changes  = qp_valid_i || begin_q;
  assign rcv_ready_o = receives_ready && !qp_changes;

  be_receives u_receives (
    .clk_i,
    .rst_ni,
    .clear_i  (begin_q || !active_q),
    .flush_i  (failed_q),
    .valid_i  (rcv_valid_i && rcv_is_mine && !qp_changes),
    .ready_o  (receives_ready),
    .receive_i(rcv_i),
    .valid_o  (waits),
    .head_o   (head),
    .take_i   (take),
    .flushes_o(flushes),
    .flushed_i(rcp_ready_i && !received_valid)
  );

  always_comb begin
    rcp_valid_o = received_valid || flushes;
    rcp_qpn_o   = qp_q.qpn;
    rcp_o       = received;
    if (!received_valid) rcp_o = '{wr_id: head.wr_id, status: WrFlushErr, default: '0};
  end

  be_responder u_responder (
    .clk_i,
    .rst_ni,
    .begin_i         (begin_q),
    .qp_i            (qp_q),
    .flush_i         (failed_q),
    .start_i         (respond_start),
    .header_i        (header),
    .payload_i       (payload),
    .done_o          (respond_done),
    .failed_o        (respond_fails),
    .index_o         (respond_index),
    .byte_i          (frame_byte),
    .send_o          (respond_send),
    .syndrome_o      (syndrome),
    .psn_o           (answer_psn),
    .msn_o           (msn),
    .waits_i         (waits),
    .receive_i       (head),
    .take_o          (take),
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

  be_requester #(
    .ClockPs(ClockPs)
  ) u_requester (
    .clk_i,
    .rst_ni,
    .begin_i    (begin_q),
    .qp_i       (qp_q),
    .active_i   (active_q),
    .ready_i    (ready_q && job_q == Idle && kind == FrameNone),
    .failed_i   (failed_q),
    .fails_o    (request_fails),
    .wr_valid_i (wr_valid_i && !qp_valid_i),
    .wr_ready_o (request_takes),
    .wr_id_i,
    .wr_qpn_i,
    .operation_i,
    .solicited_i,
    .va_i,
    .rkey_i,
    .length_i,
    .immediate_i,
    .tdata_i    (pl_tdata_i),
    .tvalid_i   (pl_tvalid_i),
    .tlast_i    (pl_tlast_i),
    .tready_o   (pl_tready_o),
    .wants_o    (request_wanted),
    .order_o    (request_order),
    .sent_i     (request_sent),
    .index_i    (send_index[11:0]),
    .byte_o     (message_byte),
    .answer_i   (job_q == Idle && is_mine && is_response),
    .header_i   (header),
    .cpl_valid_o,
    .cpl_o,
    .cpl_ready_i
  );

  assign wr_ready_o = request_takes && !qp_valid_i;

  // Answers to ARP and echo requests come out of the frame that asked.
  logic [7:0]   echo_byte, arp_byte;
  logic [223:0] arp;
  logic [16:0]  echo_sum;
  logic [15:0]  echo_checksum;
  logic [47:0]  asking_mac;
  logic [31:0]  asking_ip;
  always_comb begin
    // They lie where a packet has parts of its IP header.
    {asking_mac, asking_ip} = {header.ttl, header.protocol, header.ip_checksum, header.src_ip,
                               header.dst_ip[31:16]};
    arp      = {64'h0001_0800_0604_0002, mac_i, ip_i, asking_mac, asking_ip};
    arp_byte = arp[8*(27-send_index[4:0])+:8];
    echo_sum = {1'b0, header.dst_port} + 17'h0800;
    echo_checksum = echo_sum[15:0] + 16'(echo_sum[16]);
    unique case (send_index)
      16'd0:   echo_byte = 8'd0;
      16'd2:   echo_byte = echo_checksum[15:8];
      16'd3:   echo_byte = echo_checksum[7:0];
      default: echo_byte = frame_byte;
    endcase
  end
  logic [7:0] send_byte;
  always_comb begin
    unique case (order_q.source)
      FromArp:     send_byte = arp_byte;
      FromEcho:    send_byte = echo_byte;
      FromMessage: send_byte = message_byte;
      FromMad:     send_byte = mad_byte;
      default:     send_byte = 8'd0;
    endcase
    unique case (job_q)
      Manage:  frame_index = manage_index;
      Respond: frame_index = respond_index;
      default: frame_index = 11'd34 + 11'(send_index);
    endcase
  end

  logic send_start, send_done;
  be_transmitter u_transmitter (
    .clk_i,
    .rst_ni,
    .mac_i,
    .ip_i,
    .start_i (send_start),
    .order_i (order_q),
    .done_o  (send_done),
    .index_o (send_index),
    .byte_i  (send_byte),
    .tdata_o (tx_tdata_o),
    .tvalid_o(tx_tvalid_o),
    .tlast_o (tx_tlast_o),
    .tready_i(tx_tready_i)
  );

  // Of the queue pair, to its peer.
  function automatic order_t acknowledgement();
    order_t order = '0;
    order.kind      = FrameRoce;
    order.mac       = qp_q.mac;
    order.ip        = qp_q.ip;
    order.sport     = qp_q.sport;
    order.tos       = qp_q.tos;
    order.ttl       = qp_q.ttl;
    order.ip_id     = ip_id_q;
    order.opcode    = 8'h11;
    order.qpn       = qp_q.remote_qpn;
    order.psn       = answer_psn;
    order.ext_bytes = 5'd4;
    order.ext       = {syndrome, msn, 128'd0};
    return order;
  endfunction

  function automatic order_t reply();  // to whoever asked
    order_t order = '0;
    order.kind  = kind;
    order.mac   = header.src_mac;
    order.ttl   = 8'd64;
    order.ip_id = ip_id_q;
    if (kind == FrameArp) begin
      order.source = FromArp;
      order.bytes  = 12'd28;
    end else begin
      order.source = FromEcho;
      order.ip     = header.src_ip;
      order.bytes  = 12'(header.ip_length - 16'd20);
    end
    return order;
  endfunction

  logic is_begin;
  assign is_begin      = job_q == Idle && kind == FrameNone;
  assign qp_ready_o    = is_begin && !request_wanted && !pl_tready_o;
  assign manage_start  = job_q == Idle && is_for_cm;
  assign respond_start = job_q == Idle && is_mine && !is_response;
  assign release_frame = (job_q == Idle && !manage_start && !respond_start && kind == FrameRoce)
                      || (job_q == Manage && manage_done && !manage_send)
                      || (job_q == Respond && respond_done && !respond_send)
                      || (job_q == Send && send_done && !is_request_q);
  assign request_sent  = job_q == Send && send_done && is_request_q;

  always_ff @(posedge clk_i) begin
    send_start <= 1'b0;
    begin_q    <= 1'b0;
    if (!rst_ni) begin
      job_q    <= Idle;
      active_q <= 1'b0;
      ready_q  <= 1'b0;
      failed_q <= 1'b0;
      owned_q  <= 1'b0;
      ip_id_q  <= '0;
    end else begin
      unique case (job_q)
        Idle: begin
          is_request_q <= 1'b0;
          if (manage_start) begin
            job_q <= Manage;
          end else if (respond_start) begin
            job_q <= Respond;
          end else if (kind inside {FrameArp, FrameEcho}) begin
            job_q      <= Send;
            send_start <= 1'b1;
            order_q    <= reply();
          end else if (qp_valid_i && qp_ready_o) begin
            if (qp_active_i) begin
              qp_q     <= qp_i;
              begin_q  <= 1'b1;
              failed_q <= 1'b0;
            end
            active_q <= qp_active_i;
            owned_q  <= qp_active_i;
            ready_q  <= qp_active_i && qp_i.may_send;
          end else if (request_wanted) begin
            job_q        <= Send;
            send_start   <= 1'b1;
            is_request_q <= 1'b1;
            order_q      <= request_order;
          end
        end
        Manage: begin
          if (manage_done) begin
            job_q      <= manage_send ? Send : Idle;
            send_start <= manage_send;
            order_q    <= manage_order;
          end
        end
        Respond: begin
          if (respond_done) begin
            job_q      <= respond_send ? Send : Idle;
            send_start <= respond_send;
            order_q    <= acknowledgement();
          end
        end
        default: begin
          if (send_done) begin
            job_q   <= Idle;
            ip_id_q <= ip_id_q + 16'(!is_request_q);
          end
        end
      endcase
      if (connect) begin
        qp_q     <= connected;
        begin_q  <= 1'b1;
        active_q <= 1'b1;
        ready_q  <= 1'b0;
        failed_q <= 1'b0;
      end
      if (whole) ready_q <= 1'b1;
      if (close || request_fails || (respond_done && respond_fails)) failed_q <= 1'b1;
    end
  end

endmodule

`default_nettype wire
