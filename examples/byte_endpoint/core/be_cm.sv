// SPDX-License-Identifier: BSD-2-Clause
//
// The passive side of connection management, for one service and one connection:
// REQ draws REP or REJ, RTU or the first request makes the connection whole, DREQ
// draws DREP and ends it. A REQ takes the place of a connection that is not whole.
// A message is read byte by byte out of the frame that holds it.

`default_nettype none

module be_cm
  import be_pkg::*;
#(
  parameter logic [63:0] ServiceId = 64'h0000_0000_0106_4791,
  parameter logic [3:0]  LongestMtu = 4'd3
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

  input  wire logic        owned_i,    // the owner has the queue pair: there is none to give
  input  wire logic        request_i,  // the connection's peer has sent a request
  output logic             connect_o,  // the queue pair begins as qp_o says
  output queue_pair_t      qp_o,
  output logic             whole_o,    // and may send
  output logic             close_o,    // and ends

  output logic             event_valid_o,
  output logic [7:0]       event_o,    // of qp_o
  input  wire logic        event_ready_i
);

  localparam logic [15:0] Req = 16'h0010, Rej = 16'h0012, Rep = 16'h0013, Rtu = 16'h0014,
                          Dreq = 16'h0015, Drep = 16'h0016;
  localparam logic [15:0] NoQueuePair = 16'd1, WrongService = 16'd8, WrongTransport = 16'd9,
                          WrongGid = 16'd12, WrongMtu = 16'd26;
  localparam logic [7:0]  Answered = 8'd0, Established = 8'd1, Closed = 8'd2;
  localparam logic [31:0] Qkey = 32'h8001_0000;
  localparam logic [23:0] FirstQpn = 24'hBE0010;
  localparam logic [7:0]  LastRead = 8'd119;

  typedef enum logic [2:0] { Idle, Read, Decide, Tell, Done } state_e;

  state_e      state_q;
  logic [7:0]  count_q;     // byte of the message
  logic [127:0] read;       // the last 16 bytes read
  logic [119:0] read_q;
  logic [23:0] psn_q, qpn_q, ticks_q;

  // The message.
  logic [31:0] start_q;     // versions, class, method
  logic [63:0] transaction_q, service_q;
  logic [15:0] attribute_q;
  logic [31:0] local_q, remote_q;
  logic [23:0] goodbye_qpn_q, their_qpn_q, their_psn_q;
  logic [1:0]  transport_q;
  logic [3:0]  mtu_q;
  logic [31:0] their_ip_q;
  logic [127:0] gid_q;
  logic [7:0]  tos_q, ttl_q;
  logic [4:0]  timeout_q;

  // The connection.
  logic        known_q, whole_q, closed_q;
  logic        owes_q;      // to tell that it is whole
  logic [7:0]  step_q;      // that it takes now
  logic [31:0] own_id_q, their_id_q;
  logic [63:0] their_transaction_q;

  assign index_o = 14'd62 + 14'(count_q);
  assign read    = {read_q, byte_i};

  always_ff @(posedge clk_i) begin
    if (state_q == Read) begin
      read_q <= read[119:0];
      unique case (count_q)
        8'd3:   start_q       <= read[31:0];
        8'd15:  transaction_q <= read[63:0];
        8'd17:  attribute_q   <= read[15:0];
        8'd27:  local_q       <= read[31:0];
        8'd31:  remote_q      <= read[31:0];
        8'd34:  goodbye_qpn_q <= read[23:0];
        8'd39:  service_q     <= read[63:0];
        8'd58:  their_qpn_q   <= read[23:0];
        8'd67:  transport_q   <= read[2:1];
        8'd70:  their_psn_q   <= read[23:0];
        8'd74:  mtu_q         <= read[7:4];
        8'd95:  their_ip_q    <= read[31:0];
        8'd111: gid_q         <= read;
        8'd116: tos_q         <= read[7:0];
        8'd117: ttl_q         <= read[7:0];
        8'd119: timeout_q     <= read[7:3];
        default: ;
      endcase
    end
  end

  logic [15:0] objection;  // 0: none
  logic is_same, is_ours;
  always_comb begin
    objection = 16'd0;
    if (service_q != ServiceId) objection = WrongService;
    else if (transport_q != 2'd0) objection = WrongTransport;
    else if (mtu_q == 4'd0 || mtu_q > LongestMtu) objection = WrongMtu;
    else if (gid_q != {80'd0, 16'hFFFF, ip_i}) objection = WrongGid;
    else if (owned_i || (known_q && whole_q && !closed_q)) objection = NoQueuePair;
    is_same = known_q && !closed_q && local_q == their_id_q
           && transaction_q == their_transaction_q;
    is_ours = known_q && local_q == their_id_q && remote_q == own_id_q;
  end

  // The answer.
  logic [15:0] answer_q, reason_q;
  logic [31:0] said_own_q, said_their_q;
  logic [415:0] mad;
  always_comb begin
    mad = {32'h0107_0203, 32'd0, transaction_q, answer_q, 48'd0, said_own_q, said_their_q, 160'd0};
    if (answer_q == Rep) begin
      mad[127:104] = qp_o.qpn;
      mad[63:40]   = qp_o.rq_psn;
      mad[7:5]     = 3'd7;
    end
    if (answer_q == Rej) mad[143:128] = reason_q;
  end
  assign mad_byte_o = mad_index_i < 8'd52 ? mad[8*(51-32'(mad_index_i))+:8] : 8'd0;

  assign order_o = '{
    kind: FrameRoce, source: FromMad, mac: header_i.src_mac, ip: header_i.src_ip, sport: 16'hC001,
    tos: 8'd0, ttl: 8'd64, ip_id: 16'(ticks_q), opcode: 8'h64, solicited: 1'b0, ack_request: 1'b0,
    qpn: header_i.ext[119:96], psn: psn_q, ext_bytes: 5'd8, ext: {Qkey, 32'd1, 96'd0},
    first: 16'd0, bytes: 14'd256
  };
  assign done_o  = state_q == Done;

  always_ff @(posedge clk_i) begin
    ticks_q   <= ticks_q + 24'd1;
    connect_o <= 1'b0;
    whole_o   <= 1'b0;
    close_o   <= 1'b0;
    if (!rst_ni) begin
      state_q       <= Idle;
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
      end
      if (owned_i) known_q <= 1'b0;
      unique case (state_q)
        Idle: begin
          count_q <= '0;
          send_o  <= 1'b0;
          if (start_i) begin
            state_q <= payload_i == 16'd256 && header_i.opcode == 8'h64
                    && header_i.ext[159:128] == Qkey ? Read : Done;
          end
        end
        Read: begin
          count_q <= count_q + 8'd1;
          if (count_q == LastRead) state_q <= Decide;
        end
        Decide: begin
          state_q      <= Done;
          said_their_q <= local_q;
          said_own_q   <= own_id_q;
          if (start_q == 32'h0107_0203) begin
            unique case (attribute_q)
              Req: begin
                send_o   <= 1'b1;
                answer_q <= Rep;
                if (!is_same) begin
                  if (objection != 0) begin
                    answer_q   <= Rej;
                    reason_q   <= objection;
                    said_own_q <= '0;
                  end else begin
                    state_q <= Tell;
                    step_q  <= Answered;
                  end
                end
              end
              Rtu: begin
                if (is_ours && !whole_q && !closed_q) begin
                  state_q <= Tell;
                  step_q  <= Established;
                end
              end
              Rej, Dreq: begin
                if (is_ours && (attribute_q == Rej || goodbye_qpn_q == qp_o.qpn)) begin
                  send_o   <= attribute_q == Dreq;
                  answer_q <= Drep;
                  step_q   <= Closed;
                  if (!closed_q) state_q <= Tell;
                end
              end
              default: ;
            endcase
          end
        end
        Tell: begin  // what has changed
          if (!event_valid_o && !owes_q) begin
            state_q       <= Done;
            event_valid_o <= 1'b1;
            event_o       <= step_q;
            unique case (step_q)
              Answered: begin
                known_q             <= 1'b1;
                whole_q             <= 1'b0;
                closed_q            <= 1'b0;
                connect_o           <= 1'b1;
                own_id_q            <= own_id_q + 32'd1;
                said_own_q          <= own_id_q + 32'd1;
                their_id_q          <= local_q;
                their_transaction_q <= transaction_q;
                qpn_q               <= qpn_q + 24'd1;
                qp_o <= '{
                  qpn: qpn_q, remote_qpn: their_qpn_q, mac: header_i.src_mac, ip: their_ip_q,
                  sport: {2'b11, qpn_q[13:0]}, tos: tos_q, ttl: ttl_q, ip_id: 16'(ticks_q),
                  mtu: mtu_q[2:0], sq_psn: their_psn_q, rq_psn: ticks_q ^ {transaction_q[23:0]},
                  ack_timeout: timeout_q, rnr_timer: 5'd12, may_write: 1'b1, may_send: 1'b0
                };
              end
              Established: begin
                whole_q <= 1'b1;
                whole_o <= 1'b1;
              end
              default: begin
                closed_q <= 1'b1;
                close_o  <= 1'b1;
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
