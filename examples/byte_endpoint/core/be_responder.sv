// SPDX-License-Identifier: BSD-2-Clause
//
// The receive side of the queue pair: looks at one request after the other, in the
// order of checks that the specification has, moves its bytes to memory, and says
// what it has to say: ACK, NAK, RNR NAK or nothing. Nothing is acknowledged that is
// not in memory. After a fatal NAK it is deaf.

`default_nettype none

module be_responder
  import be_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        begin_i,     // the queue pair starts anew
  input  wire queue_pair_t qp_i,
  input  wire logic        flush_i,     // it has failed: an open message ends
  input  wire logic        start_i,     // a request is held; it stays until done
  input  wire header_t     header_i,
  input  wire logic [15:0] payload_i,
  output logic             done_o,
  output logic             failed_o,    // at the same time: with a fatal NAK
  output logic [13:0]      index_o,     // byte of the frame that is wanted
  input  wire logic [7:0]  byte_i,
  output logic             send_o,      // at the same time: the answer
  output logic [7:0]       syndrome_o,
  output logic [23:0]      psn_o,
  output logic [23:0]      msn_o,
  input  wire logic        waits_i,     // a receive
  input  wire waiting_t    receive_i,
  output logic             take_o,
  output logic             is_busy_o,   // receives behind the one in use must wait
  output logic             received_valid_o,
  output received_t        received_o,
  input  wire logic        received_ready_i,
  output logic             write_o,
  output logic [14:0]      place_o,
  output logic [7:0]       byte_o
);

  localparam logic [7:0] Ack = 8'h1F, SequenceError = 8'h60, InvalidRequest = 8'h61,
                         AccessError = 8'h62, OperationalError = 8'h63;
  localparam logic [31:0] LongestMessage = 32'h8000_0000;

  typedef enum logic [2:0] { Idle, Compare, Check, Move, Close, Answer } state_e;

  state_e      state_q;
  logic [23:0] expected_q, msn_q;
  logic        nak_pending_q, anything_q;
  // The open message.
  logic        open_q, is_send_q;
  logic [31:0] left_q, done_q;
  logic [14:0] next_q;      // place of the next byte
  logic [63:0] wr_id_q;     // of the receive in use
  logic [15:0] moved_q;

  // What the packet is.
  logic [7:0] opcode;
  logic is_first, is_last, is_send, is_write, has_immediate, is_plain;
  always_comb begin
    opcode        = header_i.opcode;
    is_send       = opcode inside {[8'h00:8'h05]};
    is_write      = opcode inside {[8'h06:8'h0B]};
    is_first      = opcode inside {8'h00, 8'h04, 8'h05, 8'h06, 8'h0A, 8'h0B};
    is_last       = opcode inside {[8'h02:8'h05], [8'h08:8'h0B]};
    has_immediate = opcode inside {8'h03, 8'h05, 8'h09, 8'h0B};
    is_plain      = is_send || is_write;
  end

  logic [63:0] va;
  logic [31:0] rkey, dma_length, immediate;
  assign {va, rkey, dma_length} = header_i.ext[159:32];
  assign immediate = opcode == 8'h0B ? header_i.ext[31:0] : header_i.ext[159:128];

  // What the message is that the packet belongs to.
  logic        takes_receive;
  logic [31:0] left, key, region_bytes;
  logic [63:0] address;
  logic        is_allowed;
  logic [14:0] region_place;
  always_comb begin
    takes_receive = is_send ? is_first : has_immediate;
    left = !is_first ? left_q : is_send ? receive_i.length : dma_length;
    {key, address, region_bytes} = is_send ? {receive_i.key, receive_i.address, receive_i.length}
                                           : {rkey, va, dma_length};
  end

  be_regions u_regions (
    .key_i     (key),
    .address_i (address),
    .length_i  (region_bytes),
    .for_peer_i(!is_send),
    .allowed_o (is_allowed),
    .place_o   (region_place)
  );

  logic [23:0] ahead;
  logic [15:0] mtu;
  logic        size_is_right, follows;
  always_comb begin
    ahead         = header_i.psn - expected_q;
    mtu           = 16'd128 << qp_i.mtu;
    follows       = is_first ? !open_q : open_q && is_send_q == is_send;
    size_is_right = !is_last ? payload_i == mtu
                  : payload_i <= mtu && (is_first || payload_i != 0);
  end

  logic [7:0] objection;  // 0: none
  logic [7:0] status;     // of the receive that the objection ends
  always_comb begin
    objection = Ack;
    status    = RemInvReqErr;
    if (!is_plain || !follows || (is_write && !qp_i.may_write)) objection = InvalidRequest;
    else if (takes_receive && !waits_i) objection = {3'b001, qp_i.rnr_timer};
    else if (!size_is_right || (is_write && is_first && dma_length > LongestMessage))
      objection = InvalidRequest;
    else if (32'(payload_i) > left) begin
      objection = InvalidRequest;
      status    = LocLenErr;
    end else if (is_write && is_last && 32'(payload_i) != left) objection = InvalidRequest;
    else if (is_first && !is_allowed && (is_send || dma_length != 0)) begin
      objection = is_send ? OperationalError : AccessError;
      status    = LocProtErr;
    end
  end

  assign msn_o    = msn_q;
  assign done_o   = state_q == Answer;
  assign index_o  = 14'd54 + 14'(ext_bytes_of(opcode)) + 14'(moved_q);
  assign byte_o   = byte_i;
  assign write_o  = state_q == Move;
  assign place_o  = next_q;

  // The receive that ends with this packet, if one does.
  logic       ends_q;
  logic [7:0] status_q;
  assign received_valid_o = state_q == Close && ends_q;
  assign received_o = '{
    wr_id: wr_id_q, status: status_q, immediate: has_immediate,
    solicited: header_i.solicited, byte_len: done_q, value: immediate
  };

  logic is_accepted, is_retried, is_at_fault;
  assign is_accepted = objection == Ack;
  assign is_retried  = objection[7:5] == 3'b001;
  assign is_at_fault = is_send && is_first && status inside {LocLenErr, LocProtErr};
  assign is_busy_o   = state_q != Idle || (open_q && is_send_q);
  assign take_o      = state_q == Check && (is_accepted ? takes_receive : is_at_fault);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || begin_i) begin
      state_q       <= Idle;
      expected_q    <= qp_i.rq_psn;
      msn_q         <= '0;
      nak_pending_q <= 1'b0;
      anything_q    <= 1'b0;
      open_q        <= 1'b0;
    end else begin
      unique case (state_q)
        Idle: begin
          send_o     <= 1'b0;
          failed_o   <= 1'b0;
          syndrome_o <= Ack;
          psn_o      <= header_i.psn;
          moved_q    <= '0;
          ends_q     <= 1'b0;
          status_q   <= flush_i ? WrFlushErr : Success;
          if (flush_i) begin
            open_q  <= 1'b0;
            ends_q  <= open_q && is_send_q;
            if (open_q && is_send_q) state_q <= Close;
          end else if (start_i) begin
            state_q <= Compare;
          end
        end
        Compare: begin
          state_q <= ahead == 0 ? Check : Answer;
          if (ahead[23]) begin
            send_o <= is_plain && anything_q;
          end else if (ahead != 0) begin
            send_o        <= !nak_pending_q;
            nak_pending_q <= 1'b1;
            syndrome_o    <= SequenceError;
            psn_o         <= expected_q;
          end
        end
        Check: begin
          nak_pending_q <= is_retried;
          if (is_accepted) begin
            state_q    <= payload_i != 0 ? Move : Close;
            send_o     <= header_i.ack_request;
            expected_q <= expected_q + 24'd1;
            anything_q <= 1'b1;
            open_q     <= !is_last;
            is_send_q  <= is_send;
            left_q     <= left - 32'(payload_i);
            done_q     <= (is_first ? 32'd0 : done_q) + 32'(payload_i);
            ends_q     <= is_last && (is_send || has_immediate);
            if (is_last) msn_q <= msn_q + 24'd1;
            if (is_first) next_q <= region_place;
          end else begin
            state_q    <= Close;
            send_o     <= 1'b1;
            syndrome_o <= objection;
            failed_o   <= !is_retried;
            status_q   <= status;
            ends_q     <= !is_retried && ((open_q && is_send_q) || is_at_fault);
            if (!is_retried) open_q <= 1'b0;
          end
          if (take_o) wr_id_q <= receive_i.wr_id;
        end
        Move: begin
          next_q  <= next_q + 15'd1;
          moved_q <= moved_q + 16'd1;
          if (moved_q + 16'd1 == payload_i) state_q <= Close;
        end
        Close: begin
          if (!ends_q || received_ready_i) state_q <= status_q == WrFlushErr ? Idle : Answer;
        end
        default: state_q <= Idle;
      endcase
    end
  end

endmodule

`default_nettype wire
