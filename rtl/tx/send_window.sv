// SPDX-License-Identifier: BSD-2-Clause
//
// Whether the QP whose message is being sent may send another new packet: it
// is not held by its recovery, and the replay buffer has room for it, so
// that every packet is kept until it is acknowledged. A READ or an atomic has no
// payload to be kept. Follows what the ACK
// tracker writes about this QP; the grant of a message's place is the first.

`default_nettype none

module send_window #(
  parameter int unsigned Qps         = 16,
  parameter int unsigned ReplayBytes = 65536,  // of payload per QP
  parameter int unsigned Packets     = roce_tx_pkg::ReplayPackets,  // per QP
  parameter int unsigned IndexBits   = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 oldest_valid_i,
  input  wire logic [IndexBits-1:0] oldest_index_i,
  input  wire logic [23:0]          oldest_i,       // place of what is not acknowledged
  input  wire logic                 held_valid_i,
  input  wire logic [IndexBits-1:0] held_index_i,
  input  wire logic                 held_i,
  input  wire logic [IndexBits-1:0] index_i,        // of the QP that sends
  input  wire logic [2:0]           path_mtu_i,
  input  wire logic [23:0]          place_i,        // of the packet
  input  wire logic                 asks_i,         // it is a READ or an atomic
  output logic                      open_o
);

  localparam int unsigned Smallest = 128;  // shifted by its encoding, a path MTU

  logic [23:0] oldest_q;
  logic        held_q;
  logic [23:0] outstanding;
  logic [31:0] slots;

  assign outstanding = place_i - oldest_q;
  assign slots       = ReplayBytes / Smallest >> path_mtu_i;
  assign open_o      = !held_q && 32'(outstanding)
                       < (slots < Packets && !asks_i ? slots : Packets);

  always_ff @(posedge clk_i) begin
    if (oldest_valid_i && oldest_index_i == index_i) oldest_q <= oldest_i;
    if (held_valid_i && held_index_i == index_i) held_q <= held_i;
  end

endmodule

`default_nettype wire
