// SPDX-License-Identifier: BSD-2-Clause
//
// The sequence of the requester's responses: one after the other is looked up,
// judged and acted on, in four cycles. Data go to memory; what the ACK tracker is told of
// a response, it is told once all data that came before are there. Between responses
// a memory region is taken, when nothing is on its way to memory. Before a queue pair
// starts anew its responses are ignored, and those before have been told (fenced_o).

`default_nettype none

module response_engine
  import reads_pkg::*;
  import request_pkg::*;
  import responder_pkg::*;
  import roce_tx_pkg::asked_t;
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Qps       = 16,
  parameter int unsigned Regions   = 16,
  parameter int unsigned Ipv6      = 0,
  localparam int unsigned Lanes     = DataWidth / 8,
  localparam int unsigned LaneBits  = $clog2(Lanes),
  localparam int unsigned CountBits = $clog2(MaxPayload / Lanes + 1),
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 qpc_valid_i,      // a configuration waits
  input  wire logic                 qpc_ready_i,
  input  wire qp_config_t           config_i,
  output      logic                 fenced_o,
  input  wire event_t               event_i,
  output      logic                 ask_room_o,
  output      logic                 landed_o,         // what a queue pair took before it failed

  input  wire logic                 region_valid_i,
  output      logic                 region_ready_o,
  input  wire memory_region_t       region_i,

  input  wire logic                 answer_valid_i,   // as request_path has it
  output      logic                 answer_ready_o,
  input  wire logic                 good_i,
  input  wire request_t             answer_i,
  input  wire logic [CountBits-1:0] beats_i,
  output      logic                 payload_valid_o,
  input  wire logic                 payload_ready_i,
  output      logic                 forget_o,
  output      logic [CountBits-1:0] beats_o,
  output      logic [LaneBits-1:0]  tail_o,

  output      logic                 write_valid_o,
  input  wire logic                 write_ready_i,
  output      memory_command_t      write_o,
  output      logic                 write_short_o,    // what an atomic found
  output      logic [63:0]          original_o,
  input  wire logic                 done_valid_i,

  output      logic                 response_valid_o,
  input  wire logic                 response_ready_i,
  output      roce_pkg::response_t  response_o,
  output      roce_tx_pkg::fault_t  fault_o
);

  localparam int unsigned Waiting = 16;  // for data to be in memory

  typedef logic [$clog2(Waiting)+1:0] told_t;  // counts what is told; no half of it ever waits

  typedef enum logic [1:0] {
    StIdle,
    StLook,
    StJudge,
    StAct
  } state_e;

  state_e               state_q;
  logic                 queue_ready, table_ready, waits, permitted, told_room, mine, mine_q;
  logic                 idle, takes_region, takes_response, settled, acts, writes, advances;
  logic                 is_configured, open, tells, tells_end, again;
  asker_t               asker;
  asked_t               asked;
  logic [23:0]          received;
  logic [31:0]          offset;
  logic [63:0]          address;
  verdict_t             verdict, verdict_q;
  region_query_t        query;
  write_count_t         asked_q, done_q, missing;
  told_t                pushed_q, popped_q, fence_q;
  logic                 fencing_q;
  write_count_t         landing_q, unlanded;  // writes until a queue pair failed
  logic                 failing_q, lands_q;
  logic [IndexBits-1:0] index;

  assign index          = answer_i.dest_qpn[IndexBits-1:0];
  assign idle           = state_q == StIdle && queue_ready && table_ready;
  assign settled        = asked_q == done_q;
  assign takes_region   = idle && region_valid_i && settled;
  assign takes_response = idle && !region_valid_i && answer_valid_i && !event_i.owed;
  assign region_ready_o = takes_region;

  asked_queue #(
    .Qps (Qps),
    .Ipv6(Ipv6)
  ) u_asked (
    .clk_i,
    .rst_ni,
    .ready_o     (queue_ready),
    .config_i,
    .event_i,
    .room_o      (ask_room_o),
    .lookup_i    (takes_response),
    .index_i     (index),
    .asker_o     (asker),
    .waits_o     (waits),
    .asked_o     (asked),
    .received_o  (received),
    .again_o     (again),
    .advance_i   (advances),
    .end_i       (verdict_q.ends),
    .told_i      (tells_end),
    .told_index_i(response_o.dest_qpn[IndexBits-1:0])
  );

  always_comb begin
    query                   = '0;
    query.local_key         = 1'b1;
    query.right.local_write = 1'b1;
    query.key               = asked.lkey;
    query.pd                = asker.pd;
    query.address           = asked.address + 64'(offset);
    query.length            = asked.atomic ? AtomicBytes : 32'(answer_i.payload_bytes);
  end

  region_table #(
    .Regions(Regions)
  ) u_regions (
    .clk_i,
    .rst_ni,
    .ready_o      (table_ready),
    .write_i      (takes_region),
    .region_i,
    .query_valid_i(state_q == StLook),
    .query_i      (query),
    .forget_i     (1'b0),
    .permitted_o  (permitted),
    .address_o    (address)
  );

  response_checks u_checks (
    .response_i (answer_i),
    .asker_i    (asker),
    .waits_i    (waits),
    .asked_i    (asked),
    .received_i (received),
    .again_i    (again),
    .offset_o   (offset),
    .permitted_i(permitted),
    .verdict_o  (verdict)
  );

  assign is_configured = qpc_valid_i && config_i.local_qpn[IndexBits-1:0] == index
      && (config_i.command != QpReset || config_i.local_qpn[23:0] == asker.local_qpn);
  assign mine = good_i && asker.active && !is_configured && asker.local_qpn == answer_i.dest_qpn
      && asker.remote_gid == answer_i.src_gid;

  // What a queue pair that has failed meanwhile was waiting for goes nowhere.
  assign open     = mine_q && (waits || (!verdict_q.advances && verdict_q.fault.status == StatusSuccess));
  assign writes   = open && verdict_q.writes;
  assign tells    = open && verdict_q.passes;
  assign missing  = asked_q - done_q;
  assign acts     = state_q == StAct && !event_i.configures && (beats_i == '0 || payload_ready_i)
      && (!writes || (write_ready_i && missing < write_count_t'(MaxWrites)))
      && (!tells || told_room);
  assign advances = acts && open && verdict_q.advances;

  assign answer_ready_o = acts;
  assign payload_valid_o = acts && beats_i != '0;
  assign forget_o        = !writes;
  assign beats_o         = beats_i;
  assign tail_o          = answer_i.payload_bytes[LaneBits-1:0];

  assign write_valid_o = acts && writes;
  assign write_short_o = asked.atomic;
  assign write_o       = '{address: address, length: query.length, tag: 16'(asked_q), reserved: '0};
  assign original_o    = {answer_i.reth.virtual_address[31:0], answer_i.reth.rkey};

  always_ff @(posedge clk_i) begin
    if (state_q == StJudge) begin
      verdict_q <= verdict;
      mine_q    <= mine;
    end

    unique case (state_q)
      StIdle:  if (takes_response) state_q <= StLook;
      StLook:  state_q <= StJudge;
      StJudge: state_q <= StAct;
      StAct:   if (acts) state_q <= StIdle;
    endcase

    failing_q <= event_i.fails;
    if (failing_q) landing_q <= asked_q;
    lands_q <= event_i.fails || failing_q
        || (lands_q && unlanded != '0 && !unlanded[$bits(unlanded)-1]);

    if (write_valid_o) asked_q <= asked_q + 1'b1;
    if (done_valid_i) done_q <= done_q + 1'b1;

    // Once no response of before is at work, those that wait to be told then are all.
    if (!qpc_valid_i || qpc_ready_i) fencing_q <= 1'b0;
    else if (state_q == StIdle && !fencing_q) begin
      fencing_q <= 1'b1;
      fence_q   <= pushed_q;
    end
    if (acts && tells) pushed_q <= pushed_q + 1'b1;
    if (response_valid_o && response_ready_i) popped_q <= popped_q + 1'b1;

    if (!rst_ni) begin
      state_q   <= StIdle;
      asked_q   <= '0;
      done_q    <= '0;
      pushed_q  <= '0;
      popped_q  <= '0;
      fencing_q <= 1'b0;
      failing_q <= 1'b0;
      lands_q   <= 1'b0;
    end
  end

  assign unlanded = landing_q - done_q;
  assign landed_o = !lands_q;

  told_t unfenced;
  assign unfenced = fence_q - popped_q;
  assign fenced_o = fencing_q && (unfenced == '0 || unfenced[$bits(unfenced)-1]);

  // What is told, and after how many writes.
  write_count_t told_after, told_missing;
  logic         told_valid, told_ends;

  stream_fifo #(
    .Width(1 + $bits(response_o) + $bits(fault_o) + $bits(write_count_t)),
    .Depth(Waiting)
  ) u_told (
    .clk_i,
    .rst_ni,
    .s_data_i ({verdict_q.ends, verdict_q.response, verdict_q.fault, asked_q + write_count_t'(writes)}),
    .s_valid_i(acts && tells),
    .s_ready_o(told_room),
    .m_data_o ({told_ends, response_o, fault_o, told_after}),
    .m_valid_o(told_valid),
    .m_ready_i(response_valid_o && response_ready_i)
  );

  assign tells_end        = response_valid_o && response_ready_i && told_ends;
  assign told_missing     = told_after - done_q;
  assign response_valid_o = told_valid && (told_missing == '0 || told_missing[$bits(told_missing)-1]);

  assert_done_was_asked: assert property (@(posedge clk_i) disable iff (!rst_ni)
      done_valid_i |-> !settled)
  else $error("a write is done that was not asked for");

endmodule

`default_nettype wire
