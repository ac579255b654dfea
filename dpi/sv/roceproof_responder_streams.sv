// SPDX-License-Identifier: BSD-2-Clause
//
// The streams of a responder, those that the manifest asks for: regions and
// receives into the DUT, the ends of receives and the steps of connections out
// of it, and the memory behind it.

`default_nettype none

module roceproof_responder_streams
  import roceproof_bridge_pkg::*;
#(
  parameter int          Index     = 0,
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [63:0]            seed_i,
  input  wire cycle_t                 cycle_i,
  input  wire wake_t                  wake_i,
  input  wire flow_t                  flow_i,
  output logic                        poll_o
`ifndef ROCEPROOF_STATIC_KEYS
  ,
  output logic                        mr_valid_o,
  output logic      [319:0]           mr_o,
  input  wire logic                   mr_ready_i
`endif
`ifndef ROCEPROOF_BACKDOOR
  ,
  input  wire logic                   mwc_valid_i,
  input  wire logic [127:0]           mwc_i,
  output logic                        mwc_ready_o,
  input  wire logic [DataWidth-1:0]   mwd_tdata_i,
  input  wire logic [DataWidth/8-1:0] mwd_tkeep_i,
  input  wire logic                   mwd_tvalid_i,
  input  wire logic                   mwd_tlast_i,
  output logic                        mwd_tready_o,
  output logic                        mdn_valid_o,
  output logic      [31:0]            mdn_o
`endif
`ifdef ROCEPROOF_MEMORY_READS
  ,
  input  wire logic                   mrc_valid_i,
  input  wire logic [127:0]           mrc_i,
  output logic                        mrc_ready_o,
  output logic      [DataWidth-1:0]   mrd_tdata_o,
  output logic      [DataWidth/8-1:0] mrd_tkeep_o,
  output logic                        mrd_tvalid_o,
  output logic                        mrd_tlast_o,
  input  wire logic                   mrd_tready_i
`endif
`ifdef ROCEPROOF_CM
  ,
  input  wire logic                   cme_valid_i,
  input  wire logic [255:0]           cme_i,
  output logic                        cme_ready_o
`endif
  ,
  output logic                        rcv_valid_o,
  output logic      [255:0]           rcv_o,
  input  wire logic                   rcv_ready_i,
  input  wire logic                   rcp_valid_i,
  input  wire logic [255:0]           rcp_i,
  output logic                        rcp_ready_o
);

  logic rcp_poll, cme_poll;
  assign poll_o = rcp_poll || cme_poll;

  roceproof_record_source #(
    .Index (Index),
    .Stream(StreamReceive),
    .Width (256)
  ) u_receives (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i   (wake_i[StreamReceive]),
    .gap_i    (flow_i[StreamWr]),
    .fetched_o(),
    .valid_o  (rcv_valid_o),
    .record_o (rcv_o),
    .ready_i  (rcv_ready_i)
  );

  roceproof_record_sink #(
    .Index (Index),
    .Stream(StreamReceiveCompletion),
    .Name  ("rcp"),
    .Width (256)
  ) u_receive_completions (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i  (wake_i[StreamReceiveCompletion]),
    .stall_i (flow_i[StreamCompletion]),
    .poll_o  (rcp_poll),
    .valid_i (rcp_valid_i),
    .record_i(rcp_i),
    .ready_o (rcp_ready_o)
  );

`ifndef ROCEPROOF_STATIC_KEYS
  roceproof_record_source #(
    .Index (Index),
    .Stream(StreamRegion),
    .Width (320)
  ) u_regions (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i   (wake_i[StreamRegion]),
    .gap_i    (flow_i[StreamQpc]),
    .fetched_o(),
    .valid_o  (mr_valid_o),
    .record_o (mr_o),
    .ready_i  (mr_ready_i)
  );
`endif

`ifndef ROCEPROOF_BACKDOOR
  roceproof_memory #(
    .Index    (Index),
    .DataWidth(DataWidth)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .stall_i        (flow_i[FlowMemoryStall]),
    .lag_i          (flow_i[FlowMemoryLag]),
    .command_valid_i(mwc_valid_i),
    .command_ready_o(mwc_ready_o),
    .command_i      (mwc_i),
    .tdata_i        (mwd_tdata_i),
    .tkeep_i        (mwd_tkeep_i),
    .tvalid_i       (mwd_tvalid_i),
    .tlast_i        (mwd_tlast_i),
    .tready_o       (mwd_tready_o),
    .done_valid_o   (mdn_valid_o),
    .done_o         (mdn_o)
  );
`endif

`ifdef ROCEPROOF_MEMORY_READS
  roceproof_memory_reader #(
    .Index    (Index),
    .DataWidth(DataWidth)
  ) u_memory_reader (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .stall_i        (flow_i[FlowMemoryStall]),
    .gap_i          (flow_i[FlowMemoryGap]),
    .command_valid_i(mrc_valid_i),
    .command_ready_o(mrc_ready_o),
    .command_i      (mrc_i),
    .tdata_o        (mrd_tdata_o),
    .tkeep_o        (mrd_tkeep_o),
    .tvalid_o       (mrd_tvalid_o),
    .tlast_o        (mrd_tlast_o),
    .tready_i       (mrd_tready_i)
  );
`endif

`ifdef ROCEPROOF_CM
  roceproof_record_sink #(
    .Index (Index),
    .Stream(StreamConnection),
    .Name  ("cme"),
    .Width (256)
  ) u_connections (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i  (wake_i[StreamConnection]),
    .stall_i (flow_i[StreamCompletion]),
    .poll_o  (cme_poll),
    .valid_i (cme_valid_i),
    .record_i(cme_i),
    .ready_o (cme_ready_o)
  );
`else
  assign cme_poll = 1'b0;
`endif

  // Of the claims, the device need not have all.
  logic unused;
  assign unused = ^{wake_i, flow_i};

endmodule

`default_nettype wire
