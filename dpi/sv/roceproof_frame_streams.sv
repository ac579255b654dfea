// SPDX-License-Identifier: BSD-2-Clause
//
// The frames of a port: from C into the DUT, and out of it to C.

`default_nettype none

module roceproof_frame_streams
  import roceproof_bridge_pkg::*;
#(
  parameter int          Index     = 0,
  parameter int unsigned DataWidth = 64,
  parameter bit          Stalls    = 1'b1  // what the DUT sends can be held up
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [63:0]            seed_i,
  input  wire cycle_t                 cycle_i,
  input  wire wake_t                  wake_i,
  input  wire flow_t                  flow_i,
  output logic                        poll_o,
  output logic      [DataWidth-1:0]   rx_tdata_o,
  output logic      [DataWidth/8-1:0] rx_tkeep_o,
  output logic                        rx_tvalid_o,
  output logic                        rx_tlast_o,
  output logic                        rx_tuser_o,
  input  wire logic                   rx_tready_i,
  input  wire logic [DataWidth-1:0]   tx_tdata_i,
  input  wire logic [DataWidth/8-1:0] tx_tkeep_i,
  input  wire logic                   tx_tvalid_i,
  input  wire logic                   tx_tlast_i,
  input  wire logic                   tx_tuser_i,
  output logic                        tx_tready_o
);

  roceproof_chunk_source #(
    .Index    (Index),
    .Stream   (StreamRx),
    .DataWidth(DataWidth)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i  (wake_i[StreamRx]),
    .gap_i   (flow_i[StreamRx]),
    .tdata_o (rx_tdata_o),
    .tkeep_o (rx_tkeep_o),
    .tvalid_o(rx_tvalid_o),
    .tlast_o (rx_tlast_o),
    .tuser_o (rx_tuser_o),
    .tready_i(rx_tready_i)
  );

  roceproof_frame_sink #(
    .Index    (Index),
    .DataWidth(DataWidth)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i  (wake_i[StreamTx]),
    .stall_i (Stalls ? flow_i[StreamTx] : 8'd0),
    .poll_o  (poll_o),
    .tdata_i (tx_tdata_i),
    .tkeep_i (tx_tkeep_i),
    .tvalid_i(tx_tvalid_i),
    .tlast_i (tx_tlast_i),
    .tuser_i (tx_tuser_i),
    .tready_o(tx_tready_o)
  );

  roceproof_offer_check #(
    .Index    (Index),
    .Name     ("tx"),
    .Width    (DataWidth),
    .MarkWidth(DataWidth / 8 + 1)
  ) u_tx_check (
    .clk_i,
    .rst_ni,
    .valid_i(tx_tvalid_i),
    .ready_i(tx_tready_o),
    .data_i (tx_tdata_i),
    .marks_i({tx_tkeep_i, tx_tlast_i})
  );

endmodule

`default_nettype wire
