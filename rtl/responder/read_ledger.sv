// SPDX-License-Identifier: BSD-2-Clause
//
// What there is to know of READs and atomics: whether one that comes again was
// answered before, and how; whether its queue pair may have one more; whether
// any is still being answered.

`default_nettype none

module read_ledger
  import request_pkg::*;
  import responder_pkg::*;
#(
  parameter int unsigned Qps = 16,
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic [IndexBits-1:0] index_i,     // the queue pair that is meant
  input  wire receiver_t            receiver_i,  // what is known of it
  input  wire request_t             request_i,   // the READ or atomic that is meant
  input  wire logic [23:0]          msn_i,       // in its answer
  input  wire logic [63:0]          original_i,  // what an atomic found
  input  wire logic                 clear_i,     // the queue pair begins again
  input  wire logic                 recall_i,
  output      logic                 recalled_o,
  output      logic                 known_o,
  output      kept_t                kept_o,      // if it is known
  output      logic                 free_o,
  input  wire logic                 begins_i,    // it will be answered
  input  wire logic                 keeps_i,     // for the first time

  input  wire logic                 left_i,      // a frame, and this is its note
  input  wire read_note_t           note_i,
  output      logic                 none_o
);

  operation_t operation;
  kept_t      read;

  assign operation = operation_of(request_i.opcode);

  always_comb begin
    read          = '0;
    read.opcode   = request_i.opcode[4:0];
    read.psn      = request_i.psn;
    read.msn      = msn_i;
    read.original = original_i;
    read.packets  = 25'd1;
    if (operation.kind == KindRead) begin
      read.packets = packets_of(request_i.reth.dma_length, receiver_i.path_mtu);
      read.rkey    = request_i.reth.rkey;
      read.address = request_i.reth.virtual_address;
      read.length  = request_i.reth.dma_length;
    end
  end

  read_history #(
    .Qps(Qps)
  ) u_history (
    .clk_i,
    .rst_ni,
    .index_i,
    .limit_i   (receiver_i.read_limit),
    .read_i    (read),
    .keep_i    (begins_i && keeps_i),
    .clear_i,
    .recall_i,
    .recalled_o,
    .known_o,
    .kept_o
  );

  read_counter #(
    .Qps(Qps)
  ) u_counter (
    .clk_i,
    .rst_ni,
    .index_i,
    .limit_i (receiver_i.read_limit),
    .free_o,
    .begins_i,
    .holds_i (keeps_i),
    .left_i,
    .note_i,
    .none_o
  );

endmodule

`default_nettype wire
