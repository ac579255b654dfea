// SPDX-License-Identifier: BSD-2-Clause
//
// All that is known of queue pairs: what each was told, how far it has come,
// the receives posted on it. What belongs to the one looked up is there one
// cycle later, and changes with what is done to it. Whoever uses this does one
// thing in a cycle, and with the queue pair that was looked up last.

`default_nettype none

module queue_pair_store
  import responder_pkg::*;
  import roceproof_dut_pkg::qp_config_t, roceproof_dut_pkg::receive_t;
#(
  parameter int unsigned Qps             = 16,
  parameter int unsigned Receives        = 16,  // posted on one
  parameter bit          ServesDatagrams = 1'b0,
  parameter bit          ServesIpv6      = 1'b0,
  parameter bit          SharesReceives  = 1'b0,
  localparam int unsigned IndexBits = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  output      logic                 ready_o,

  input  wire logic [IndexBits-1:0] index_i,
  input  wire logic                 lookup_i,
  output      receiver_t            receiver_o,
  output      progress_t            progress_o,
  output      logic                 head_valid_o,  // there is a receive
  output      receive_slot_t        head_o,
  output      logic                 is_own_o,      // and it ends with the queue pair

  input  wire logic                 configure_i,
  input  wire qp_config_t           config_i,
  output      receiver_t            told_o,        // by the configuration
  output      logic                 begins_o,      // from its first PSN
  output      logic                 clears_o,      // its receives
  output      logic                 fails_o,

  input  wire logic                 advance_i,
  input  wire progress_t            progress_i,
  input  wire receive_t             receive_i,
  input  wire logic                 names_i,       // it is the receive's queue that is meant
  output      logic                 known_o,       // which there is
  output      logic                 room_o,        // with room for it
  input  wire logic                 post_i,
  input  wire logic                 take_i         // the receive at the head
);

  progress_t begun;
  logic      is_shared;

  assign is_shared = SharesReceives && names_i && receive_i.srq != '0;
  assign known_o   = is_shared ? receive_i.srq <= 16'(Qps)
      : receiver_o.known && receiver_o.local_qpn == receive_i.qpn[23:0];

  receiver_table #(
    .Qps            (Qps),
    .ServesDatagrams(ServesDatagrams),
    .ServesIpv6     (ServesIpv6)
  ) u_receivers (
    .clk_i,
    .rst_ni,
    .ready_o,
    .index_i,
    .lookup_i,
    .receiver_o,
    .configure_i,
    .config_i,
    .told_o,
    .begins_o,
    .begun_o(begun),
    .clears_o,
    .fails_o
  );

  ram_1r1w #(
    .Width($bits(progress_t)),
    .Words(Qps)
  ) u_progress (
    .clk_i,
    .write_i      (begins_o || advance_i),
    .write_index_i(index_i),
    .write_data_i (begins_o ? begun : progress_i),
    .read_i       (lookup_i),
    .read_index_i (index_i),
    .read_data_o  (progress_o)
  );

  receive_store #(
    .Qps   (Qps),
    .Depth (Receives),
    .Shared(SharesReceives)
  ) u_receives (
    .clk_i,
    .rst_ni,
    .index_i,
    .lookup_i,
    .number_i (is_shared ? receive_i.srq : '0),
    .join_i   (clears_o),
    .srq_i    (config_i.srq),
    .post_i,
    .receive_i('{receive_i.wr_id, receive_i.lkey, receive_i.address, receive_i.length}),
    .hold_i   (advance_i && progress_i.message.open && progress_i.message.send),
    .take_i,
    .clear_i  (clears_o),
    .room_o,
    .head_valid_o,
    .head_o,
    .is_own_o
  );

endmodule

`default_nettype wire
