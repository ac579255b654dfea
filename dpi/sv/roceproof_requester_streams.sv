// SPDX-License-Identifier: BSD-2-Clause
//
// The streams of a requester: QP configurations, work requests and payload into
// the DUT, completions out of it.

`default_nettype none

module roceproof_requester_streams
  import roceproof_bridge_pkg::*;
#(
  parameter int          Index     = 0,
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Wait      = 0    // cycles that every completion waits
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [63:0]            seed_i,
  input  wire cycle_t                 cycle_i,
  input  wire wake_t                  wake_i,
  input  wire flow_t                  flow_i,
  output logic                        poll_o,
  output logic                        qpc_valid_o,
  output logic      [511:0]           qpc_o,
  input  wire logic                   qpc_ready_i,
  output logic                        wr_valid_o,
  output logic      [319:0]           wr_o,
  input  wire logic                   wr_ready_i,
  output logic      [DataWidth-1:0]   pl_tdata_o,
  output logic      [DataWidth/8-1:0] pl_tkeep_o,
  output logic                        pl_tvalid_o,
  output logic                        pl_tlast_o,
  input  wire logic                   pl_tready_i,
  input  wire logic                   cpl_valid_i,
  input  wire logic [127:0]           cpl_i,
  output logic                        cpl_ready_o
);

  logic qpc_fetched, qpc_waits_q, qpc_waited_q;

  // A work request may be offered while the configuration before it waits.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      qpc_waits_q  <= 1'b0;
      qpc_waited_q <= 1'b0;
    end else begin
      qpc_waits_q  <= qpc_valid_o && !qpc_ready_i;
      qpc_waited_q <= qpc_waits_q;
      if (qpc_valid_o && !qpc_ready_i && !qpc_waits_q) roceproof_qpc_waits(port[Index], cycle_i);
    end
  end

  roceproof_chunk_source #(
    .Index    (Index),
    .Stream   (StreamPayload),
    .DataWidth(DataWidth)
  ) u_payload (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i  (wake_i[StreamPayload]),
    .gap_i   (flow_i[StreamPayload]),
    .tdata_o (pl_tdata_o),
    .tkeep_o (pl_tkeep_o),
    .tvalid_o(pl_tvalid_o),
    .tlast_o (pl_tlast_o),
    .tuser_o (),
    .tready_i(pl_tready_i)
  );

  roceproof_record_source #(
    .Index (Index),
    .Stream(StreamQpc),
    .Width (512)
  ) u_qpc (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i   (wake_i[StreamQpc]),
    .gap_i    (flow_i[StreamQpc]),
    .fetched_o(qpc_fetched),
    .valid_o  (qpc_valid_o),
    .record_o (qpc_o),
    .ready_i  (qpc_ready_i)
  );

  // C holds a work request back until the configurations sent before it are on
  // offer, so it is worth asking again when one is taken or begins to wait.
  roceproof_record_source #(
    .Index (Index),
    .Stream(StreamWr),
    .Width (320)
  ) u_wr (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i   (wake_i[StreamWr] || qpc_fetched || (qpc_waits_q && !qpc_waited_q)),
    .gap_i    (flow_i[StreamWr]),
    .fetched_o(),
    .valid_o  (wr_valid_o),
    .record_o (wr_o),
    .ready_i  (wr_ready_i)
  );

  roceproof_record_sink #(
    .Index(Index),
    .Wait (Wait)
  ) u_completion (
    .clk_i,
    .rst_ni,
    .seed_i,
    .cycle_i,
    .wake_i  (wake_i[StreamCompletion]),
    .stall_i (flow_i[StreamCompletion]),
    .poll_o  (poll_o),
    .valid_i (cpl_valid_i),
    .record_i(cpl_i),
    .ready_o (cpl_ready_o)
  );

endmodule

`default_nettype wire
