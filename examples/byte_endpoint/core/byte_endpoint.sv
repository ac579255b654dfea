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
  input  wire logic        call_i,         // the owner asks for a connection, of `qp_i`, or
  input  wire logic        hang_up_i,      // for the end of one
  output logic             call_ready_o,

  input  wire logic        wr_valid_i,
  output logic             wr_ready_o,
  input  wire work_t       wr_i,
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

  // What is being done. Whoever wants to send has its order in the list below.
  typedef enum logic [2:0] { Idle, Manage, Respond, Send } job_e;
  job_e   job_q;
  order_t order_q;
  logic   is_own_q;       // it answers no frame, and
  logic   is_request_q;
  logic [15:0] ip_id_q;   // of all but requests

  frame_e      kind;
  header_t     header;
  logic [15:0] payload;
  logic        release_frame;
  logic [13:0] frame_index;
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

  queue_pair_t qp, connected;
  logic active, ready, failed, owned, begins;
  logic connect, whole, close, request_fails, respond_done, respond_fails;

  be_queue_pair u_queue_pair (
    .clk_i,
    .rst_ni,
    .set_i      (qp_valid_i && qp_ready_o),
    .forget_i   (!qp_active_i),
    .set_qp_i   (qp_i),
    .connect_i  (connect),
    .connected_i(connected),
    .whole_i    (whole),
    .fail_i     (close || request_fails || (respond_done && respond_fails)),
    .qp_o       (qp),
    .active_o   (active),
    .owned_o    (owned),
    .ready_o    (ready),
    .failed_o   (failed),
    .begin_o    (begins)
  );

  logic is_mine, is_for_cm, is_response;
  assign is_mine     = kind == FrameRoce && header.qpn == qp.qpn && active && !failed
                    && header.src_ip == qp.ip && header.opcode[7:5] == 3'b000;
  assign is_for_cm   = kind == FrameRoce && header.qpn == 24'd1;
  assign is_response = header.opcode inside {[8'h0D:8'h12]};

  logic        manage_start, manage_done, manage_send, manage_wants, respond_start, respond_send;
  logic        request_wanted, request_sent, request_takes;
  order_t      manage_order, request_order, respond_order, aside_order;
  logic        manage_granted;
  logic [13:0] manage_index, respond_index;
  logic [7:0]  mad_byte, message_byte, aside_byte;
  logic [15:0] send_index;

  be_cm #(
    .ClockPs(ClockPs)
  ) u_cm (
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
    .call_i,
    .hang_up_i,
    .call_qp_i    (qp_i),
    .call_ready_o,
    .wants_o      (manage_wants),
    .granted_i    (manage_granted),
    .owned_i      (owned),
    .request_i    (respond_start),
    .connect_o    (connect),
    .qp_o         (connected),
    .whole_o      (whole),
    .close_o      (close),
    .event_valid_o,
    .event_o,
    .event_qp_o,
    .event_ready_i
  );

  // A receive is taken behind the configuration that was offered before it.
  logic qp_changes, receives_ready;
  assign qp_changes  = qp_valid_i || begins;
  assign rcv_ready_o = receives_ready && !qp_changes;
  assign rcp_qpn_o   = qp.qpn;

  be_receive_side u_receive_side (
    .clk_i,
    .rst_ni,
    .begin_i    (begins),
    .qp_i       (qp),
    .active_i   (active),
    .failed_i   (failed),
    .ip_id_i    (ip_id_q),
    .start_i    (respond_start),
    .header_i   (header),
    .payload_i  (payload),
    .done_o     (respond_done),
    .fails_o    (respond_fails),
    .send_o     (respond_send),
    .order_o    (respond_order),
    .index_o    (respond_index),
    .byte_i     (frame_byte),
    .rcv_valid_i(rcv_valid_i && !qp_changes),
    .rcv_ready_o(receives_ready),
    .rcv_qpn_i,
    .rcv_i,
    .rcp_valid_o,
    .rcp_o,
    .rcp_ready_i
  );

  be_requester #(
    .ClockPs(ClockPs)
  ) u_requester (
    .clk_i,
    .rst_ni,
    .begin_i    (begins),
    .qp_i       (qp),
    .active_i   (active),
    .ready_i    (ready && job_q == Idle && kind == FrameNone),
    .failed_i   (failed),
    .fails_o    (request_fails),
    .wr_valid_i (wr_valid_i && !qp_valid_i),
    .wr_ready_o (request_takes),
    .wr_i,
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

  be_aside u_aside (
    .mac_i,
    .ip_i,
    .kind_i  (kind),
    .header_i(header),
    .ip_id_i (ip_id_q),
    .order_o (aside_order),
    .index_i (send_index),
    .byte_i  (frame_byte),
    .byte_o  (aside_byte)
  );

  always_comb begin
    unique case (job_q)
      Manage:  frame_index = manage_index;
      Respond: frame_index = respond_index;
      default: frame_index = 14'd34 + 14'(send_index);
    endcase
  end

  logic send_start, send_done;
  be_transmitter u_transmitter (
    .clk_i,
    .rst_ni,
    .mac_i,
    .ip_i,
    .start_i  (send_start),
    .order_i  (order_q),
    .done_o   (send_done),
    .index_o  (send_index),
    .aside_i  (aside_byte),
    .message_i(message_byte),
    .mad_i    (mad_byte),
    .tdata_o  (tx_tdata_o),
    .tvalid_o (tx_tvalid_o),
    .tlast_o  (tx_tlast_o),
    .tready_i (tx_tready_i)
  );

  assign qp_ready_o    = job_q == Idle && kind == FrameNone && !request_wanted && !pl_tready_o;
  assign manage_start  = job_q == Idle && is_for_cm;
  assign respond_start = job_q == Idle && is_mine && !is_response;
  assign release_frame = (job_q == Idle && !manage_start && !respond_start && kind == FrameRoce)
                      || (job_q == Manage && manage_done && !manage_send)
                      || (job_q == Respond && respond_done && !respond_send)
                      || (job_q == Send && send_done && !is_own_q);
  assign manage_granted = manage_wants && job_q == Idle && kind == FrameNone;
  assign request_sent  = job_q == Send && send_done && is_request_q;

  always_ff @(posedge clk_i) begin
    send_start <= 1'b0;
    if (!rst_ni) begin
      job_q    <= Idle;
      ip_id_q  <= '0;
    end else begin
      unique case (job_q)
        Idle: begin
          is_own_q     <= 1'b0;
          is_request_q <= 1'b0;
          if (manage_start) begin
            job_q <= Manage;
          end else if (respond_start) begin
            job_q <= Respond;
          end else if (kind inside {FrameArp, FrameEcho}) begin
            job_q      <= Send;
            send_start <= 1'b1;
            order_q    <= aside_order;
          end else if (manage_granted) begin
            job_q      <= Send;
            send_start <= 1'b1;
            is_own_q   <= 1'b1;
            order_q    <= manage_order;
          end else if (request_wanted) begin
            job_q        <= Send;
            send_start   <= 1'b1;
            is_own_q     <= 1'b1;
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
            order_q    <= respond_order;
          end
        end
        default: begin
          if (send_done) begin
            job_q   <= Idle;
            ip_id_q <= ip_id_q + 16'(!is_request_q);
          end
        end
      endcase
    end
  end

endmodule

`default_nettype wire
