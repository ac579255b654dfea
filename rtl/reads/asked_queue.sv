// SPDX-License-Identifier: BSD-2-Clause
//
// The READs and atomics under way: for each queue pair a ring, in order, and how
// many responses of the oldest have come. What is looked up is there one cycle
// later; one counts as under way until the ACK tracker knows its end. waits_o says
// at all times whether the queue pair looked up has one whose request has left. A
// queue pair that fails waits for none until it starts anew.
// After reset every queue pair is made unknown, one per cycle, before ready_o rises.

`default_nettype none

module asked_queue
  import reads_pkg::*;
  import roce_tx_pkg::*;
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned Qps  = 16,
  parameter int unsigned Ipv6 = 0,
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  output      logic                 ready_o,

  input  wire qp_config_t           config_i,
  input  wire event_t               event_i,
  output      logic                 room_o,      // at event_i.ask_index a cycle before

  input  wire logic                 lookup_i,
  input  wire logic [IndexBits-1:0] index_i,
  output      asker_t               asker_o,
  output      logic                 waits_o,
  output      asked_t               asked_o,       // the oldest
  output      logic [23:0]          received_o,  // responses of it
  output      logic                 again_o,     // since the last of which the rest has been asked for
  input  wire logic                 advance_i,   // one more; never beside a configuration
  input  wire logic                 end_i,       // and it was the last
  input  wire logic                 told_i,      // so the tracker knows, of that queue pair
  input  wire logic [IndexBits-1:0] told_index_i
);

  localparam int unsigned PlaceBits = $clog2(MaxAsked);

  typedef logic [PlaceBits:0] place_t;  // one bit more than a place: full is not empty

  place_t               told_q[Qps], head_q[Qps], sent_q[Qps], tail_q[Qps];
  logic [Qps-1:0]       failed_q, again_q;
  place_t               held;
  logic [IndexBits:0]   cleared_q;
  logic [IndexBits-1:0] configured, failed, departed, asking, index_q;
  asker_t               asker;

  assign ready_o    = cleared_q[IndexBits];
  assign configured = config_i.local_qpn[IndexBits-1:0];
  assign failed     = event_i.failed_index[IndexBits-1:0];
  assign departed   = event_i.departed_index[IndexBits-1:0];
  assign asking     = event_i.ask_index[IndexBits-1:0];
  assign held       = tail_q[asking] - told_q[asking];
  assign again_o    = again_q[index_q];
  assign waits_o    = !failed_q[index_q] && head_q[index_q] != sent_q[index_q];

  always_comb begin
    asker = '0;
    if (ready_o) begin
      asker.active     = config_i.command == QpActivate && config_i.service == ServiceRc;
      asker.local_qpn  = config_i.local_qpn[23:0];
      asker.remote_gid = roce_pkg::kept_gid(config_i.remote_gid, Ipv6);
      asker.path_mtu   = config_i.path_mtu[2:0];
      asker.pd         = config_i.pd;
    end
  end

  always_ff @(posedge clk_i) begin
    room_o <= failed_q[asking] || held < event_i.ask_limit;
    if (lookup_i) index_q <= index_i;
    if (event_i.asks) tail_q[asking] <= tail_q[asking] + 1'b1;
    if (event_i.asks_rest) again_q[event_i.rest_index[IndexBits-1:0]] <= 1'b1;
    if (advance_i) again_q[index_q] <= 1'b0;
    if (advance_i && end_i) head_q[index_q] <= head_q[index_q] + 1'b1;
    if (event_i.departs && event_i.departs_asking) sent_q[departed] <= sent_q[departed] + 1'b1;
    if (told_i) told_q[told_index_i] <= told_q[told_index_i] + 1'b1;
    if (event_i.fails) failed_q[failed] <= 1'b1;
    if (event_i.configures) begin
      told_q[configured]   <= tail_q[configured];
      head_q[configured]   <= tail_q[configured];
      sent_q[configured]   <= tail_q[configured];
      again_q[configured]  <= 1'b0;
      failed_q[configured] <= 1'b0;
    end

    if (!rst_ni) begin
      cleared_q <= '0;
      for (int unsigned i = 0; i < Qps; i++) begin
        told_q[i] <= '0;
        head_q[i] <= '0;
        sent_q[i] <= '0;
        tail_q[i] <= '0;
      end
    end else if (!ready_o) cleared_q <= cleared_q + 1'b1;
  end

  ram_1r1w #(
    .Width($bits(asker_t)),
    .Words(Qps)
  ) u_askers (
    .clk_i,
    .write_i      (event_i.configures || !ready_o),
    .write_index_i(ready_o ? configured : cleared_q[IndexBits-1:0]),
    .write_data_i (asker),
    .read_i       (lookup_i),
    .read_index_i (index_i),
    .read_data_o  (asker_o)
  );

  ram_1r1w #(
    .Width($bits(asked_t)),
    .Words(Qps * MaxAsked)
  ) u_asked (
    .clk_i,
    .write_i      (event_i.asks),
    .write_index_i({asking, tail_q[asking][PlaceBits-1:0]}),
    .write_data_i (event_i.asked),
    .read_i       (lookup_i),
    .read_index_i ({index_i, head_q[index_i][PlaceBits-1:0]}),
    .read_data_o  (asked_o)
  );

  ram_1r1w #(
    .Width(24),
    .Words(Qps)
  ) u_received (
    .clk_i,
    .write_i      (event_i.configures || advance_i),
    .write_index_i(event_i.configures ? configured : index_q),
    .write_data_i (event_i.configures || end_i ? '0 : received_o + 24'd1),
    .read_i       (lookup_i),
    .read_index_i (index_i),
    .read_data_o  (received_o)
  );

  assert_departs_alone: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(event_i.departs && event_i.configures))
  else $error("a frame has left while its queue pair starts anew");

  assert_room: assert property (@(posedge clk_i) disable iff (!rst_ni)
      event_i.asks |-> held < place_t'(MaxAsked))
  else $error("more READs and atomics are under way than are kept");

  assert_waits: assert property (@(posedge clk_i) disable iff (!rst_ni)
      advance_i |-> waits_o && !event_i.configures)
  else $error("a response to nothing");

endmodule

`default_nettype wire
