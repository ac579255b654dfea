// SPDX-License-Identifier: BSD-2-Clause
//
// The RC messages that await acknowledgement, in order for each QP, and their
// completions. A lookup says how full a QP's ring is; what retires may be
// counted still. Retirements are done one after the other, and beside the one
// that is being done one may wait (retire_waits_o). flushes_o lasts until the
// last completion of a flush is gone.

`default_nettype none

module pending_messages
  import roceproof_dut_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned Qps       = 16,
  parameter int unsigned Pending   = 16,
  parameter int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 clear_i,         // after reset, index_i in turn
  input  wire logic                 lookup_i,
  input  wire logic [IndexBits-1:0] index_i,
  output logic                      full_o,          // from the next cycle to the next lookup
  output logic                      empty_o,
  input  wire logic                 start_valid_i,   // of the QP that was looked up
  input  wire message_start_t       start_i,
  input  wire logic                 retire_valid_i,
  input  wire retirement_t          retire_i,
  output logic                      retire_waits_o,
  output logic                      flushes_o,
  output logic                      completion_valid_o,
  input  wire logic                 completion_ready_i,
  output completion_t               completion_o
);

  localparam int unsigned PlaceBits = $clog2(Pending);

  typedef logic [IndexBits-1:0] index_t;
  typedef logic [PlaceBits:0]   place_t;  // one bit more than a place: full is not empty

  typedef struct packed {
    logic [63:0] wr_id;
    logic [23:0] last_psn;
  } message_t;

  typedef enum logic [2:0] {
    StIdle,    // look up the ring that the next retirement is about
    StBegin,
    StRead,    // its oldest message, if there is any
    StFetch,
    StDecide,
    StRetire
  } state_e;

  state_e      state_q;
  place_t      tail, head;            // of the QP that was looked up
  place_t      retired_tail, retired_head;
  place_t      tail_q, head_q;        // of the retirement
  retirement_t waiting, retire_q;
  logic        waiting_valid, retire_room;
  message_t    message, message_q;
  logic        first_q;               // of the flushed messages
  logic        none_left;             // of the QP's messages
  logic        ends_q;                // no message behind this one retires
  logic        retires;
  index_t      waiting_index, retire_index;

  assign full_o         = head == (tail ^ place_t'(Pending));
  assign empty_o        = head == tail;
  assign retire_waits_o = waiting_valid;
  assign waiting_index  = waiting.qpn[IndexBits-1:0];
  assign retire_index   = retire_q.qpn[IndexBits-1:0];

  stream_fifo #(
    .Width($bits(retirement_t)),
    .Depth(2)
  ) u_retirements (
    .clk_i,
    .rst_ni,
    .s_data_i (retire_i),
    .s_valid_i(retire_valid_i),
    .s_ready_o(retire_room),
    .m_data_o (waiting),
    .m_valid_o(waiting_valid),
    .m_ready_i(state_q == StIdle)
  );

  assign none_left = head_q == tail_q;
  assign retires   = retire_q.flush || precedes(message_q.last_psn, retire_q.bound);

  assign completion_valid_o = state_q == StRetire;

  always_comb begin
    completion_o       = '0;
    completion_o.wr_id = message_q.wr_id;
    completion_o.qpn   = retire_q.qpn;
    if (!retire_q.flush) begin
      completion_o.status   = StatusSuccess;
      completion_o.syndrome = retire_q.syndrome;
    end else if (first_q) begin
      completion_o.status   = retire_q.status;
      completion_o.syndrome = retire_q.syndrome;
    end else begin
      completion_o.status   = StatusWrFlushErr;
      completion_o.syndrome = 8'hff;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      flushes_o <= 1'b0;
    end else begin
      if (retire_valid_i && retire_i.flush) flushes_o <= 1'b1;
      else if (state_q == StRead && none_left && retire_q.flush
               && !(waiting_valid && waiting.flush)) flushes_o <= 1'b0;

      case (state_q)
        StIdle: begin
          retire_q <= waiting;
          first_q  <= 1'b1;
          if (waiting_valid) state_q <= StBegin;
        end

        StBegin: begin
          head_q  <= retired_head;
          tail_q  <= retired_tail;
          state_q <= StRead;
        end

        StRead: state_q <= none_left ? StIdle : StFetch;

        StFetch: begin
          message_q <= message;
          state_q   <= StDecide;
        end

        StDecide: begin
          ends_q  <= !retire_q.flush && message_q.last_psn + 24'd1 == retire_q.bound;
          state_q <= retires ? StRetire : StIdle;
        end

        default: if (completion_ready_i) begin  // StRetire
          head_q  <= head_q + 1'b1;
          first_q <= 1'b0;
          state_q <= ends_q ? StIdle : StRead;
        end
      endcase
    end
  end

  // Each end of the rings is read by both sides and written by one.
  logic   tail_write, head_write;
  index_t head_index;
  place_t next_tail, next_head;

  assign tail_write = clear_i || start_valid_i;
  assign next_tail  = clear_i ? '0 : tail + 1'b1;
  assign head_write = clear_i || (completion_valid_o && completion_ready_i);
  assign head_index = clear_i ? index_i : retire_index;
  assign next_head  = clear_i ? '0 : head_q + 1'b1;

  ram_1r1w #(
    .Width($bits(place_t)),
    .Words(Qps)
  ) u_tails (
    .clk_i,
    .write_i      (tail_write),
    .write_index_i(index_i),
    .write_data_i (next_tail),
    .read_i       (lookup_i),
    .read_index_i (index_i),
    .read_data_o  (tail)
  );

  ram_1r1w #(
    .Width($bits(place_t)),
    .Words(Qps)
  ) u_heads (
    .clk_i,
    .write_i      (head_write),
    .write_index_i(head_index),
    .write_data_i (next_head),
    .read_i       (lookup_i),
    .read_index_i (index_i),
    .read_data_o  (head)
  );

  ram_1r1w #(
    .Width($bits(place_t)),
    .Words(Qps)
  ) u_retired_tails (
    .clk_i,
    .write_i      (tail_write),
    .write_index_i(index_i),
    .write_data_i (next_tail),
    .read_i       (state_q == StIdle),
    .read_index_i (waiting_index),
    .read_data_o  (retired_tail)
  );

  ram_1r1w #(
    .Width($bits(place_t)),
    .Words(Qps)
  ) u_retired_heads (
    .clk_i,
    .write_i      (head_write),
    .write_index_i(head_index),
    .write_data_i (next_head),
    .read_i       (state_q == StIdle),
    .read_index_i (waiting_index),
    .read_data_o  (retired_head)
  );

  ram_1r1w #(
    .Width($bits(message_t)),
    .Words(Qps * Pending)
  ) u_messages (
    .clk_i,
    .write_i      (start_valid_i),
    .write_index_i({index_i, tail[PlaceBits-1:0]}),
    .write_data_i ({start_i.wr_id, start_i.last_psn}),
    .read_i       (state_q == StRead),
    .read_index_i ({retire_index, head_q[PlaceBits-1:0]}),
    .read_data_o  (message)
  );

  assert_retirements_fit: assert property (@(posedge clk_i) disable iff (!rst_ni)
      retire_valid_i |-> retire_room)
  else $error("too many retirements at once");

endmodule

`default_nettype wire
