// SPDX-License-Identifier: BSD-2-Clause
//
// Connection management for one service and one connection, either side. Asked for it,
// REQ draws REP or REJ, and RTU or the first request makes the connection whole; a REQ
// takes the place of a connection that is not whole. Asking for it, REQ is said until REP
// or REJ comes, and REP draws RTU. DREQ draws DREP and ends it, or is said until DREP comes.

`default_nettype none

module be_cm
  import be_pkg::*;
#(
  parameter logic [63:0] ServiceId = 64'h0000_0000_0106_4791,
  parameter logic [3:0]  LongestMtu = 4'd3,
  parameter int unsigned ClockPs = 8000,
  parameter logic [4:0]  ResponseCode = 5'd9
) (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [31:0] ip_i,
  input  wire logic        start_i,    // a datagram to QP1 is held; it stays until done
  input  wire header_t     header_i,
  input  wire logic [15:0] payload_i,
  output logic             done_o,
  output logic             send_o,     // at the same time: the answer, of order_o
  output order_t           order_o,
  output logic [13:0]      index_o,    // byte of the frame that is wanted
  input  wire logic [7:0]  byte_i,
  input  wire logic [7:0]  mad_index_i,
  output logic [7:0]       mad_byte_o,

  input  wire logic        call_i,     // the owner asks for a connection of call_qp_i, or
  input  wire logic        hang_up_i,  // for the end of the one whose queue pair has its number
  input  wire queue_pair_t call_qp_i,
  output logic             call_ready_o,
  output logic             wants_o,    // to say something unasked, of order_o
  input  wire logic        granted_i,  // order_o is taken now, and leaves before anything else

  input  wire logic        owned_i,    // the owner has the queue pair: there is none to give
  input  wire logic        request_i,  // the connection's peer has sent a request
  output logic             connect_o,  // the queue pair begins as qp_o says
  output queue_pair_t      qp_o,
  output logic             whole_o,    // and may send
  output logic             close_o,    // and ends

  output logic             event_valid_o,
  output logic [7:0]       event_o,
  output queue_pair_t      event_qp_o,
  input  wire logic        event_ready_i
);

  localparam logic [15:0] NoQueuePair = 16'd1, WrongService = 16'd8, WrongTransport = 16'd9,
                          WrongGid = 16'd12, WrongMtu = 16'd26;
  localparam logic [7:0]  Answered = 8'd0, Established = 8'd1, Closed = 8'd2;
  localparam logic [31:0] Qkey = 32'h8001_0000;
  localparam logic [23:0] FirstQpn = 24'hBE0010;
  localparam logic [3:0]  Tries = 4'd15;
  localparam int unsigned Wait = 6_144_000 / ClockPs * (1 << ResponseCode);  // 1.5 times the code's

  typedef enum logic [2:0] { Idle, Read, Decide, Tell, Done } state_e;
  typedef enum logic [1:0] { Silent, Asking, Leaving } errand_e;

  state_e      state_q;
  logic [23:0] psn_q, qpn_q, ticks_q;
  mad_t        mad;
  logic        read;
  said_t       said_q;

  // The connection.
  logic        known_q, whole_q, closed_q;
  logic        called_q;    // this end has asked for it
  logic        owes_q;      // to tell that it is whole
  logic [7:0]  step_q;      // that it takes now
  logic [31:0] own_id_q, their_id_q;
  logic [63:0] transaction_q;  // of who has asked

  // What is said unasked, until it is answered.
  errand_e     errand_q;
  queue_pair_t call_qp_q;
  logic [3:0]  tries_q;
  logic [31:0] timer_q;

  be_mad_reader u_reader (
    .clk_i,
    .rst_ni,
    .start_i(state_q == Idle && start_i),
    .done_o (read),
    .mad_o  (mad),
    .index_o,
    .byte_i
  );

  be_mad_writer #(
    .ServiceId   (ServiceId),
    .ResponseCode(ResponseCode)
  ) u_writer (
    .ip_i,
    .said_i (said_q),
    .qp_i   (said_q.attribute == Req ? call_qp_q : qp_o),
    .index_i(mad_index_i),
    .byte_o (mad_byte_o)
  );

  logic [15:0] objection;  // 0: none
  logic is_same, is_ours, is_taken, is_reply;
  always_comb begin
    is_taken  = errand_q == Asking || (known_q && whole_q && !closed_q);
    objection = 16'd0;
    if (mad.service != ServiceId) objection = WrongService;
    else if (mad.transport != 2'd0) objection = WrongTransport;
    else if (mad.mtu == 4'd0 || mad.mtu > LongestMtu) objection = WrongMtu;
    else if (mad.gid != {80'd0, 16'hFFFF, ip_i}) objection = WrongGid;
    else if (owned_i || is_taken) objection = NoQueuePair;
    is_same  = known_q && !closed_q && !called_q && mad.local_id == their_id_q
            && mad.transaction == transaction_q;
    is_ours  = known_q && mad.local_id == their_id_q && mad.remote_id == own_id_q;
    is_reply = errand_q == Asking && !owned_i && mad.remote_id == own_id_q
            && mad.transaction == transaction_q;
  end

  // Their REQ, or their REP.
  queue_pair_t asked, replied;
  assign asked = '{
    qpn: qpn_q, remote_qpn: mad.qpn, mac: header_i.src_mac, ip: mad.ip,
    sport: {2'b11, qpn_q[13:0]}, tos: mad.tos, ttl: mad.ttl, ip_id: 16'(ticks_q),
    mtu: mad.mtu[2:0], sq_psn: mad.psn, rq_psn: ticks_q ^ mad.transaction[23:0],
    ack_timeout: mad.ack_timeout, rnr_timer: 5'd12, retries: 3'd7, rnr_retries: 3'd7,
    may_write: 1'b1, may_send: 1'b0
  };
  always_comb begin
    replied            = call_qp_q;
    replied.remote_qpn = mad.reply_qpn;
    replied.sq_psn     = mad.reply_psn;
    replied.may_send   = 1'b0;
  end

  logic is_said, is_vain;  // unasked, and no more
  assign is_said      = state_q == Idle && errand_q != Silent;
  assign is_vain      = errand_q != Silent && timer_q == 0 && (tries_q == 0 || owned_i);
  assign wants_o      = is_said && timer_q == 0 && !is_vain;
  assign call_ready_o = state_q == Idle && !start_i && !event_valid_o && !owes_q && !granted_i;
  assign order_o = '{
    kind: FrameRoce, source: FromMad, mac: is_said ? call_qp_q.mac : header_i.src_mac,
    ip: is_said ? call_qp_q.ip : header_i.src_ip, sport: 16'hC001,
    tos: 8'd0, ttl: 8'd64, ip_id: 16'(ticks_q), opcode: 8'h64, solicited: 1'b0, ack_request: 1'b0,
    qpn: is_said ? 24'd1 : header_i.ext[119:96], psn: psn_q, ext_bytes: 5'd8,
    ext: {Qkey, 32'd1, 96'd0}, first: 16'd0, bytes: 14'd256
  };
  assign done_o  = state_q == Done;

  always_ff @(posedge clk_i) begin
    ticks_q   <= ticks_q + 24'd1;
    connect_o <= 1'b0;
    whole_o   <= 1'b0;
    close_o   <= 1'b0;
    if (!rst_ni) begin
      state_q       <= Idle;
      errand_q      <= Silent;
      known_q       <= 1'b0;
      psn_q         <= '0;
      qpn_q         <= FirstQpn;
      own_id_q      <= 32'h4242_0000;
      ticks_q       <= '0;
      event_valid_o <= 1'b0;
      owes_q        <= 1'b0;
    end else begin
      if (event_ready_i) event_valid_o <= 1'b0;
      if (request_i && known_q && !whole_q) begin
        whole_q <= 1'b1;
        whole_o <= 1'b1;
        owes_q  <= 1'b1;
      end
      if (owes_q && !event_valid_o) begin
        owes_q        <= 1'b0;
        event_valid_o <= 1'b1;
        event_o       <= Established;
        event_qp_o    <= qp_o;
      end
      if (owned_i) known_q <= 1'b0;
      if (timer_q != 0) timer_q <= timer_q - 32'd1;
      unique case (state_q)
        Idle: begin
          send_o <= 1'b0;
          if (granted_i) begin
            timer_q <= Wait;
            tries_q <= tries_q - 4'd1;
            psn_q   <= psn_q + 24'd1;
            said_q  <= '{
              attribute: errand_q == Asking ? Req : Dreq, transaction: transaction_q,
              local_id: own_id_q, remote_id: errand_q == Asking ? '0 : their_id_q, default: '0
            };
          end else if (start_i) begin
            state_q <= payload_i == 16'd256 && header_i.opcode == 8'h64
                    && header_i.ext[159:128] == Qkey ? Read : Done;
          end else if (call_i && call_ready_o) begin
            if (is_taken || owned_i) begin
              event_valid_o <= 1'b1;
              event_o       <= Closed;
              event_qp_o    <= call_qp_i;
            end else begin
              call_qp_q     <= call_qp_i;
              errand_q      <= Asking;
              known_q       <= 1'b0;
              own_id_q      <= own_id_q + 32'd1;
              transaction_q <= {32'h4242_4242, own_id_q};
              timer_q       <= '0;
              tries_q       <= Tries;
            end
          end else if (hang_up_i && call_ready_o) begin
            if (known_q && !closed_q && call_qp_i.qpn == qp_o.qpn) begin
              call_qp_q     <= qp_o;
              errand_q      <= Leaving;
              closed_q      <= 1'b1;
              close_o       <= 1'b1;
              timer_q       <= '0;
              tries_q       <= Tries;
              event_valid_o <= 1'b1;
              event_o       <= Closed;
              event_qp_o    <= qp_o;
            end
          end else if (is_vain && !event_valid_o && !owes_q) begin
            errand_q      <= Silent;
            event_valid_o <= errand_q == Asking;
            event_o       <= Closed;
            event_qp_o    <= call_qp_q;
          end
        end
        Read: if (read) state_q <= Decide;
        Decide: begin
          state_q <= Done;
          said_q  <= '{
            attribute: Rep, transaction: mad.transaction, local_id: own_id_q,
            remote_id: mad.local_id, reason: '0
          };
          if (mad.start == MadStart) begin
            unique case (mad.attribute)
              Req: begin
                send_o <= 1'b1;
                if (!is_same) begin
                  if (objection != 0) begin
                    said_q.attribute <= Rej;
                    said_q.reason    <= objection;
                    said_q.local_id  <= '0;
                  end else begin
                    state_q <= Tell;
                    step_q  <= Answered;
                  end
                end
              end
              Rep: begin
                said_q.attribute <= Rtu;
                send_o           <= is_reply || (is_ours && called_q && !closed_q);
                if (is_reply) begin
                  state_q <= Tell;
                  step_q  <= Established;
                end
              end
              Rtu: begin
                if (is_ours && !whole_q && !closed_q) begin
                  state_q <= Tell;
                  step_q  <= Established;
                end
              end
              Rej, Dreq: begin
                if (is_ours && (mad.attribute == Rej || mad.goodbye_qpn == qp_o.qpn)) begin
                  send_o           <= mad.attribute == Dreq;
                  said_q.attribute <= Drep;
                  step_q           <= Closed;
                  if (!closed_q) state_q <= Tell;
                end else if (is_reply && mad.attribute == Rej) begin
                  state_q <= Tell;
                  step_q  <= Closed;
                end
              end
              Drep: if (is_ours && errand_q == Leaving) errand_q <= Silent;
              default: ;
            endcase
          end
        end
        Tell: begin  // what has changed
          if (!event_valid_o && !owes_q) begin
            state_q       <= Done;
            event_valid_o <= 1'b1;
            event_o       <= step_q;
            event_qp_o    <= qp_o;
            unique case (step_q)
              Answered: begin
                known_q         <= 1'b1;
                whole_q         <= 1'b0;
                closed_q        <= 1'b0;
                called_q        <= 1'b0;
                errand_q        <= Silent;
                connect_o       <= 1'b1;
                own_id_q        <= own_id_q + 32'd1;
                said_q.local_id <= own_id_q + 32'd1;
                their_id_q      <= mad.local_id;
                transaction_q   <= mad.transaction;
                qpn_q           <= qpn_q + 24'd1;
                qp_o            <= asked;
                event_qp_o      <= asked;
              end
              Established: begin
                whole_q <= 1'b1;
                whole_o <= 1'b1;
                if (errand_q == Asking) begin
                  errand_q   <= Silent;
                  known_q    <= 1'b1;
                  closed_q   <= 1'b0;
                  called_q   <= 1'b1;
                  connect_o  <= 1'b1;
                  their_id_q <= mad.local_id;
                  qp_o       <= replied;
                  event_qp_o <= replied;
                end
              end
              default: begin
                if (errand_q == Asking) begin
                  errand_q   <= Silent;
                  event_qp_o <= call_qp_q;
                end else begin
                  closed_q <= 1'b1;
                  close_o  <= 1'b1;
                end
              end
            endcase
          end
        end
        default: begin
          state_q <= Idle;
          if (send_o) psn_q <= psn_q + 24'd1;
        end
      endcase
    end
  end

endmodule

`default_nettype wire
