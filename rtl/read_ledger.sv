// SPDX-License-Identifier: BSD-2-Clause
//
// What the engine has to know of READs: whether one that comes again was
// answered before, whether its queue pair may have one more, whether any is
// still being answered.

`default_nettype none

module read_ledger
  import responder_pkg::*;
#(
  parameter int unsigned Qps = 16,
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic [IndexBits-1:0] index_i,     // the queue pair that is meant
  input  wire receiver_t            receiver_i,  // what is known of it
  input  wire request_t             request_i,   // the READ that is meant
  input  wire logic                 clear_i,     // the queue pair begins again
  input  wire logic                 recall_i,
  output      logic                 recalled_o,
  output      logic                 known_o,
  output      logic                 free_o,
  input  wire logic                 begins_i,    // it will be answered
  input  wire logic                 keeps_i,     // for the first time

  input  wire logic                 left_i,      // a frame, and this is its note
  input  wire read_note_t           note_i,
  output      logic                 none_o
);

  kept_read_t read;
  assign read = '{
    psn:     request_i.psn,
    packets: packets_of(request_i.reth.dma_length, receiver_i.path_mtu),
    rkey:    request_i.reth.rkey,
    address: request_i.reth.virtual_address,
    length:  request_i.reth.dma_length
  };

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
    .known_o
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
