// SPDX-License-Identifier: BSD-2-Clause
//
// The send side of the queue pair: one message at a time. Its payload is stored
// first, then its packets are ordered one by one, then their acknowledgement is
// awaited. What is lost is not sent again: a NAK or the timeout ends the queue pair.

`default_nettype none

module be_requester
  import be_pkg::*;
#(
  parameter int unsigned ClockPs = 8000,
  parameter int MessageBytes = 4096
) (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        begin_i,      // the queue pair starts anew
  input  wire queue_pair_t qp_i,
  input  wire logic        active_i,     // there is a queue pair
  input  wire logic        ready_i,      // and it may send
  input  wire logic        failed_i,     // and it has failed
  output logic             fails_o,      // a NAK or the timeout: it shall fail

  input  wire logic        wr_valid_i,
  output logic             wr_ready_o,
  input  wire work_t       wr_i,

  input  wire logic [7:0]  tdata_i,
  input  wire logic        tvalid_i,
  input  wire logic        tlast_i,
  output logic             tready_o,

  output logic             wants_o,      // to send this packet
  output order_t           order_o,
  input  wire logic        sent_i,
  input  wire logic [11:0] index_i,      // byte of the message that is wanted
  output logic [7:0]       byte_o,

  input  wire logic        answer_i,     // a response is held
  input  wire header_t     header_i,

  output logic             cpl_valid_o,
  output sent_t            cpl_o,
  input  wire logic        cpl_ready_i
);

  localparam int Bits = $clog2(MessageBytes);
  localparam logic [7:0] SendImm = 8'd1, Write = 8'd2, WriteImm = 8'd3, NoSyndrome = 8'hFF;
  // A timeout may take up to four times what its code says. The bytes are slow to come, so 3.5.
  localparam int unsigned UnitCycles = 14_336_000 / ClockPs;

  typedef enum logic [2:0] { Idle, Store, Order, Await, Complete } state_e;

  state_e      state_q;
  logic [7:0]  message_q [MessageBytes];
  logic [15:0] stored_q;
  work_t       work_q;
  logic [7:0]  status_q, syndrome_q;
  logic [31:0] done_q;                // bytes that have left
  logic [23:0] next_q, oldest_q;      // PSNs
  logic [15:0] ip_id_q;
  logic [47:0] timer_q;

  logic [7:0] verdict;
  always_comb begin
    if (!active_i || wr_i.qpn != 32'(qp_i.qpn) || wr_i.operation > WriteImm) verdict = LocQpOpErr;
    else if (wr_i.length > MessageBytes) verdict = LocLenErr;
    else if (failed_i) verdict = WrFlushErr;
    else verdict = Success;
  end

  assign wr_ready_o = state_q == Idle;
  assign tready_o   = state_q == Store;
  assign byte_o     = message_q[index_i[Bits-1:0]];

  // The packet that is next.
  logic [31:0] mtu, left;
  logic        is_write, has_immediate, is_first, is_last;
  logic [7:0]  opcode;
  always_comb begin
    mtu           = 32'd128 << qp_i.mtu;
    left          = work_q.length - done_q;
    is_first      = done_q == 0;
    is_last       = left <= mtu;
    is_write      = work_q.operation > SendImm;
    has_immediate = work_q.operation inside {SendImm, WriteImm};
    opcode        = is_write ? 8'h06 : 8'h00;
    if (is_first && is_last) opcode += 8'h04 + 8'(has_immediate);
    else if (is_last) opcode += 8'h02 + 8'(has_immediate);
    else if (!is_first) opcode += 8'h01;
  end

  logic [127:0] reth;
  logic [31:0]  imm;
  always_comb begin
    reth    = {work_q.va, work_q.rkey, work_q.length};
    imm     = work_q.immediate;
    order_o = '{
      kind: FrameRoce, source: FromMessage,
      mac: qp_i.mac, ip: qp_i.ip, sport: qp_i.sport, tos: qp_i.tos, ttl: qp_i.ttl, ip_id: ip_id_q,
      opcode: opcode, solicited: work_q.solicited && is_last && work_q.operation != Write,
      ack_request: is_last, qpn: qp_i.remote_qpn, psn: next_q,
      ext_bytes: 5'd0, ext: '0, first: 16'(done_q), bytes: 14'(is_last ? left : mtu)
    };
    if (is_write && is_first) begin
      order_o.ext_bytes = 5'd16;
      order_o.ext       = {reth, imm};
    end else begin
      order_o.ext = {imm, 128'd0};
    end
    if (has_immediate && is_last) order_o.ext_bytes += 5'd4;
  end
  assign wants_o = state_q == Order && ready_i;

  // A response to something that is outstanding.
  logic [7:0]  syndrome;
  logic [23:0] place;
  logic        counts, is_ack, ends;
  logic [7:0]  nak_status;
  always_comb begin
    syndrome = header_i.ext[159:152];
    place    = header_i.psn - oldest_q;
    counts   = answer_i && state_q inside {Order, Await} && header_i.opcode == 8'h11
            && place < next_q - oldest_q;
    is_ack   = syndrome[7:5] == 3'b000;
    unique case (syndrome[7:5])
      3'b001:  nak_status = RnrRetryExc;
      3'b011: begin
        unique case (syndrome[4:0])
          5'd0:    nak_status = RetryExcErr;
          5'd1:    nak_status = RemInvReqErr;
          5'd2:    nak_status = RemAccessErr;
          5'd3:    nak_status = RemOpErr;
          default: nak_status = Success;  // no such NAK
        endcase
      end
      default: nak_status = Success;
    endcase
    ends = state_q == Await && place + 24'd1 == next_q - oldest_q;
  end

  logic is_late;
  assign is_late = qp_i.ack_timeout != 0 && timer_q >= 48'(UnitCycles) << qp_i.ack_timeout;

  assign cpl_valid_o = state_q == Complete;
  assign cpl_o       = '{wr_id: work_q.wr_id, qpn: work_q.qpn, status: status_q, syndrome: syndrome_q};

  always_ff @(posedge clk_i) begin
    fails_o <= 1'b0;
    timer_q <= timer_q + 48'd1;
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      unique case (state_q)
        Idle: begin
          work_q     <= wr_i;
          status_q   <= verdict;
          syndrome_q <= NoSyndrome;
          stored_q   <= '0;
          done_q     <= '0;
          if (wr_valid_i) begin
            if (wr_i.length != 0) state_q <= Store;
            else state_q <= verdict == Success ? Order : Complete;
          end
        end
        Store: begin
          if (tvalid_i) begin
            message_q[stored_q[Bits-1:0]] <= tdata_i;
            stored_q <= stored_q + 16'd1;
            if (tlast_i) state_q <= status_q == Success ? Order : Complete;
          end
        end
        Order: begin
          timer_q <= '0;
          if (sent_i) begin
            next_q  <= next_q + 24'd1;
            ip_id_q <= ip_id_q + 16'd1;
            done_q  <= done_q + 32'(order_o.bytes);
            if (is_last) state_q <= Await;
          end
        end
        Await: begin
          if (is_late && !counts) begin
            status_q   <= RetryExcErr;
            syndrome_q <= NoSyndrome;
            fails_o    <= 1'b1;
            state_q    <= Complete;
          end
        end
        default: if (cpl_ready_i) state_q <= Idle;
      endcase
      if (counts && (is_ack || nak_status != Success)) begin
        timer_q    <= '0;
        oldest_q   <= header_i.psn + 24'(is_ack);
        syndrome_q <= syndrome;
        if (!is_ack) begin
          status_q <= nak_status;
          fails_o  <= 1'b1;
          state_q  <= Complete;
        end else if (ends) begin
          state_q <= Complete;
        end
      end
      if ((failed_i || !active_i || begin_i) && state_q inside {Order, Await}) begin
        status_q   <= WrFlushErr;
        syndrome_q <= NoSyndrome;
        state_q    <= Complete;
      end
    end
    if (begin_i) begin
      next_q   <= qp_i.sq_psn;
      oldest_q <= qp_i.sq_psn;
      ip_id_q  <= qp_i.ip_id;
    end
  end

endmodule

`default_nettype wire
