// SPDX-License-Identifier: BSD-2-Clause
//
// One Ethernet port of the simulated device: a DUT and the six streams that
// feed it and drain it. Ports share nothing but the session.

`default_nettype none

`ifndef ROCEPROOF_DUT
`define ROCEPROOF_DUT roce_endpoint
`endif
`ifndef ROCEPROOF_DUT_PARAMETERS
`define ROCEPROOF_DUT_PARAMETERS
`endif

module roceproof_port
  import roceproof_bridge_pkg::*;
#(
  parameter int          Index     = 0,
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400
) (
  input  wire logic   clk_i,
  input  wire logic   rst_ni,
  input  wire cycle_t cycle_i,
  input  wire wake_t  wake_i,
  input  wire flow_t  flow_i,
  output logic        poll_o,
  output signals_t    signals_o,
  output cycle_t      beats_o[Streams],
  output cycle_t      moved_o[Streams]
);

  typedef logic [DataWidth-1:0]   data_t;
  typedef logic [DataWidth/8-1:0] keep_t;

  logic [47:0]  mac_q;
  logic [127:0] gid_q;
  logic [63:0]  seed_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      automatic bit [47:0]  mac;
      automatic bit [127:0] gid;
      automatic bit [63:0]  seed;
      roceproof_port_identity(port[Index], mac, gid, seed);
      mac_q  <= mac;
      gid_q  <= gid;
      seed_q <= seed;
    end
  end

  data_t rx_tdata, pl_tdata, tx_tdata;
  keep_t rx_tkeep, pl_tkeep, tx_tkeep;
  logic  rx_tvalid, rx_tlast, rx_tuser, rx_tready;
  logic  pl_tvalid, pl_tlast, pl_tready;
  logic  tx_tvalid, tx_tlast, tx_tuser, tx_tready;

`ifdef ROCEPROOF_XGMII
  logic [63:0] xgmii_txd, xgmii_rxd;
  logic [7:0]  xgmii_txc, xgmii_rxc;

  // Nothing holds up what the device sends: pauses do that.
  localparam logic [7:0] TxStalls = 8'd0;

  // Completions wait as long as the last beat of a frame takes from the wire to C.
  localparam int unsigned WireCycles = 3;
`else
  localparam logic [7:0] TxStalls = '1;
  localparam int unsigned WireCycles = 0;
`endif

  logic         qpc_valid, qpc_ready, qpc_fetched;
  logic [511:0] qpc;
  logic         wr_valid, wr_ready;
  logic [319:0] wr;
  logic         cpl_valid, cpl_ready;
  logic [127:0] cpl;

  // What the device has none of is not disturbed.
  logic unused_flow;
  assign unused_flow = ^flow_i[Flows-1:Streams];

  logic tx_poll, cpl_poll, rcp_poll, cme_poll;
  assign poll_o = tx_poll || cpl_poll || rcp_poll || cme_poll;

`ifdef ROCEPROOF_RESPONDER
  logic         rcv_valid, rcv_ready, rcp_valid, rcp_ready;
  logic [255:0] rcv, rcp;
`ifndef ROCEPROOF_STATIC_KEYS
  logic         mr_valid, mr_ready;
  logic [319:0] mr;
`endif
`ifndef ROCEPROOF_BACKDOOR
  logic         mwc_valid, mwc_ready, mwd_tvalid, mwd_tlast, mwd_tready, mdn_valid;
  logic [127:0] mwc;
  logic [31:0]  mdn;
  data_t        mwd_tdata;
  keep_t        mwd_tkeep;
`endif
`endif

`ifdef ROCEPROOF_MEMORY_READS
  logic         mrc_valid, mrc_ready, mrd_tvalid, mrd_tlast, mrd_tready;
  logic [127:0] mrc;
  data_t        mrd_tdata;
  keep_t        mrd_tkeep;
`endif

`ifdef ROCEPROOF_CM
  logic         cme_valid, cme_ready;
  logic [255:0] cme;
`endif

  `ROCEPROOF_DUT #(
    .DataWidth(DataWidth),
    .ClockPs  (ClockPs) `ROCEPROOF_DUT_PARAMETERS
  ) u_dut (
    .clk_i,
    .rst_ni,
    .port_mac_i (mac_q),
    .port_gid_i (gid_q),
    .qpc_valid_i(qpc_valid),
    .qpc_ready_o(qpc_ready),
    .qpc_i      (qpc),
    .wr_valid_i (wr_valid),
    .wr_ready_o (wr_ready),
    .wr_i       (wr),
    .pl_tdata_i (pl_tdata),
    .pl_tkeep_i (pl_tkeep),
    .pl_tvalid_i(pl_tvalid),
    .pl_tlast_i (pl_tlast),
    .pl_tready_o(pl_tready),
    .cpl_valid_o(cpl_valid),
    .cpl_ready_i(cpl_ready),
    .cpl_o      (cpl),
`ifdef ROCEPROOF_XGMII
    .xgmii_txd_o(xgmii_txd),
    .xgmii_txc_o(xgmii_txc),
    .xgmii_rxd_i(xgmii_rxd),
    .xgmii_rxc_i(xgmii_rxc)
`else
    .tx_tdata_o (tx_tdata),
    .tx_tkeep_o (tx_tkeep),
    .tx_tvalid_o(tx_tvalid),
    .tx_tlast_o (tx_tlast),
    .tx_tuser_o (tx_tuser),
    .tx_tready_i(tx_tready),
    .rx_tdata_i (rx_tdata),
    .rx_tkeep_i (rx_tkeep),
    .rx_tvalid_i(rx_tvalid),
    .rx_tlast_i (rx_tlast),
    .rx_tuser_i (rx_tuser),
    .rx_tready_o(rx_tready)
`endif
`ifdef ROCEPROOF_RESPONDER
    ,
    .rcv_valid_i (rcv_valid),
    .rcv_ready_o (rcv_ready),
    .rcv_i       (rcv),
    .rcp_valid_o (rcp_valid),
    .rcp_ready_i (rcp_ready),
    .rcp_o       (rcp)
`ifndef ROCEPROOF_STATIC_KEYS
    ,
    .mr_valid_i  (mr_valid),
    .mr_ready_o  (mr_ready),
    .mr_i        (mr)
`endif
`ifndef ROCEPROOF_BACKDOOR
    ,
    .mwc_valid_o (mwc_valid),
    .mwc_ready_i (mwc_ready),
    .mwc_o       (mwc),
    .mwd_tdata_o (mwd_tdata),
    .mwd_tkeep_o (mwd_tkeep),
    .mwd_tvalid_o(mwd_tvalid),
    .mwd_tlast_o (mwd_tlast),
    .mwd_tready_i(mwd_tready),
    .mdn_valid_i (mdn_valid),
    .mdn_i       (mdn)
`endif
`endif
`ifdef ROCEPROOF_MEMORY_READS
    ,
    .mrc_valid_o (mrc_valid),
    .mrc_ready_i (mrc_ready),
    .mrc_o       (mrc),
    .mrd_tdata_i (mrd_tdata),
    .mrd_tkeep_i (mrd_tkeep),
    .mrd_tvalid_i(mrd_tvalid),
    .mrd_tlast_i (mrd_tlast),
    .mrd_tready_o(mrd_tready)
`endif
`ifdef ROCEPROOF_CM
    ,
    .cme_valid_o (cme_valid),
    .cme_ready_i (cme_ready),
    .cme_o       (cme)
`endif
  );

`ifdef ROCEPROOF_XGMII
  roceproof_xgmii_source u_xgmii_source (
    .clk_i,
    .rst_ni,
    .seed_i  (seed_q),
    .tdata_i (rx_tdata),
    .tkeep_i (rx_tkeep),
    .tvalid_i(rx_tvalid),
    .tlast_i (rx_tlast),
    .tuser_i (rx_tuser),
    .tready_o(rx_tready),
    .rxd_o   (xgmii_rxd),
    .rxc_o   (xgmii_rxc)
  );

  roceproof_xgmii_sink #(
    .Index(Index)
  ) u_xgmii_sink (
    .clk_i,
    .rst_ni,
    .txd_i   (xgmii_txd),
    .txc_i   (xgmii_txc),
    .tdata_o (tx_tdata),
    .tkeep_o (tx_tkeep),
    .tvalid_o(tx_tvalid),
    .tlast_o (tx_tlast),
    .tuser_o (tx_tuser),
    .tready_i(tx_tready)
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
    .seed_i  (seed_q),
    .cycle_i,
    .wake_i  (wake_i[StreamConnection]),
    .stall_i (8'd0),
    .poll_o  (cme_poll),
    .valid_i (cme_valid),
    .record_i(cme),
    .ready_o (cme_ready)
  );
`else
  logic unused_connection_wake;
  assign unused_connection_wake = wake_i[StreamConnection];
  assign cme_poll               = 1'b0;
`endif

`ifdef ROCEPROOF_RESPONDER
`ifdef ROCEPROOF_STATIC_KEYS
  logic unused_wake;
  assign unused_wake = wake_i[StreamRegion];
`else
  roceproof_record_source #(
    .Index (Index),
    .Stream(StreamRegion),
    .Width (320)
  ) u_regions (
    .clk_i,
    .rst_ni,
    .seed_i   (seed_q),
    .cycle_i,
    .wake_i   (wake_i[StreamRegion]),
    .gap_i    (8'd0),
    .fetched_o(),
    .valid_o  (mr_valid),
    .record_o (mr),
    .ready_i  (mr_ready)
  );
`endif

  roceproof_record_source #(
    .Index (Index),
    .Stream(StreamReceive),
    .Width (256)
  ) u_receives (
    .clk_i,
    .rst_ni,
    .seed_i   (seed_q),
    .cycle_i,
    .wake_i   (wake_i[StreamReceive]),
    .gap_i    (8'd0),
    .fetched_o(),
    .valid_o  (rcv_valid),
    .record_o (rcv),
    .ready_i  (rcv_ready)
  );

  roceproof_record_sink #(
    .Index (Index),
    .Stream(StreamReceiveCompletion),
    .Name  ("rcp"),
    .Width (256)
  ) u_receive_completions (
    .clk_i,
    .rst_ni,
    .seed_i  (seed_q),
    .cycle_i,
    .wake_i  (wake_i[StreamReceiveCompletion]),
    .stall_i (8'd0),
    .poll_o  (rcp_poll),
    .valid_i (rcp_valid),
    .record_i(rcp),
    .ready_o (rcp_ready)
  );

`ifdef ROCEPROOF_BACKDOOR
  // The memory is the device's own: an array of whole words, the lowest byte of a word first.
  import "DPI-C" context function void roceproof_backdoor_open(input chandle handle);
  export "DPI-C" function roceproof_backdoor_read;
  export "DPI-C" function roceproof_backdoor_write;

  function byte unsigned roceproof_backdoor_read(input int address);
    automatic int bytes = $bits(u_dut.`ROCEPROOF_BACKDOOR[0]) / 8;
    return u_dut.`ROCEPROOF_BACKDOOR[address/bytes][8*(address%bytes)+:8];
  endfunction

  function void roceproof_backdoor_write(input int address, input byte unsigned value);
    automatic int bytes = $bits(u_dut.`ROCEPROOF_BACKDOOR[0]) / 8;
    u_dut.`ROCEPROOF_BACKDOOR[address/bytes][8*(address%bytes)+:8] = value;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) roceproof_backdoor_open(port[Index]);
  end
`else
  roceproof_memory #(
    .Index    (Index),
    .DataWidth(DataWidth)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .seed_i         (seed_q),
    .cycle_i,
    .stall_i        (flow_i[FlowMemoryStall]),
    .command_valid_i(mwc_valid),
    .command_ready_o(mwc_ready),
    .command_i      (mwc),
    .tdata_i        (mwd_tdata),
    .tkeep_i        (mwd_tkeep),
    .tvalid_i       (mwd_tvalid),
    .tlast_i        (mwd_tlast),
    .tready_o       (mwd_tready),
    .done_valid_o   (mdn_valid),
    .done_o         (mdn)
  );

`ifdef ROCEPROOF_MEMORY_READS
  roceproof_memory_reader #(
    .Index    (Index),
    .DataWidth(DataWidth)
  ) u_memory_reader (
    .clk_i,
    .rst_ni,
    .seed_i         (seed_q),
    .cycle_i,
    .stall_i        (flow_i[FlowMemoryStall]),
    .gap_i          (flow_i[FlowMemoryGap]),
    .command_valid_i(mrc_valid),
    .command_ready_o(mrc_ready),
    .command_i      (mrc),
    .tdata_o        (mrd_tdata),
    .tkeep_o        (mrd_tkeep),
    .tvalid_o       (mrd_tvalid),
    .tlast_o        (mrd_tlast),
    .tready_i       (mrd_tready)
  );
`endif
`endif
`else
  logic unused_wakes;
  assign unused_wakes = ^wake_i[StreamReceiveCompletion:Streams];
  assign rcp_poll     = 1'b0;
`endif

  roceproof_chunk_source #(
    .Index    (Index),
    .Stream   (StreamRx),
    .DataWidth(DataWidth)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .seed_i  (seed_q),
    .cycle_i,
    .wake_i  (wake_i[StreamRx]),
    .gap_i   (flow_i[StreamRx]),
    .tdata_o (rx_tdata),
    .tkeep_o (rx_tkeep),
    .tvalid_o(rx_tvalid),
    .tlast_o (rx_tlast),
    .tuser_o (rx_tuser),
    .tready_i(rx_tready)
  );

  roceproof_chunk_source #(
    .Index    (Index),
    .Stream   (StreamPayload),
    .DataWidth(DataWidth)
  ) u_payload (
    .clk_i,
    .rst_ni,
    .seed_i  (seed_q),
    .cycle_i,
    .wake_i  (wake_i[StreamPayload]),
    .gap_i   (flow_i[StreamPayload]),
    .tdata_o (pl_tdata),
    .tkeep_o (pl_tkeep),
    .tvalid_o(pl_tvalid),
    .tlast_o (pl_tlast),
    .tuser_o (),
    .tready_i(pl_tready)
  );

  roceproof_record_source #(
    .Index (Index),
    .Stream(StreamQpc),
    .Width (512)
  ) u_qpc (
    .clk_i,
    .rst_ni,
    .seed_i   (seed_q),
    .cycle_i,
    .wake_i   (wake_i[StreamQpc]),
    .gap_i    (flow_i[StreamQpc]),
    .fetched_o(qpc_fetched),
    .valid_o  (qpc_valid),
    .record_o (qpc),
    .ready_i  (qpc_ready)
  );

  // C holds a work request back until the DUT has the configurations sent
  // before it, so it is worth asking again after each of them.
  roceproof_record_source #(
    .Index (Index),
    .Stream(StreamWr),
    .Width (320)
  ) u_wr (
    .clk_i,
    .rst_ni,
    .seed_i   (seed_q),
    .cycle_i,
    .wake_i   (wake_i[StreamWr] || qpc_fetched),
    .gap_i    (flow_i[StreamWr]),
    .fetched_o(),
    .valid_o  (wr_valid),
    .record_o (wr),
    .ready_i  (wr_ready)
  );

  roceproof_frame_sink #(
    .Index    (Index),
    .DataWidth(DataWidth)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .seed_i  (seed_q),
    .cycle_i,
    .wake_i  (wake_i[StreamTx]),
    .stall_i (flow_i[StreamTx] & TxStalls),
    .poll_o  (tx_poll),
    .tdata_i (tx_tdata),
    .tkeep_i (tx_tkeep),
    .tvalid_i(tx_tvalid),
    .tlast_i (tx_tlast),
    .tuser_i (tx_tuser),
    .tready_o(tx_tready)
  );

  roceproof_record_sink #(
    .Index(Index),
    .Wait (WireCycles)
  ) u_completion (
    .clk_i,
    .rst_ni,
    .seed_i  (seed_q),
    .cycle_i,
    .wake_i  (wake_i[StreamCompletion]),
    .stall_i (flow_i[StreamCompletion]),
    .poll_o  (cpl_poll),
    .valid_i (cpl_valid),
    .record_i(cpl),
    .ready_o (cpl_ready)
  );

  // In the order of the streams' numbers, the highest first.
  roceproof_stream_watch u_watch (
    .clk_i,
    .rst_ni,
    .cycle_i,
    .valid_i({cpl_valid, tx_tvalid, wr_valid, qpc_valid, pl_tvalid, rx_tvalid}),
    .ready_i({cpl_ready, tx_tready, wr_ready, qpc_ready, pl_tready, rx_tready}),
    .last_i ({1'b1, tx_tlast, 1'b1, 1'b1, pl_tlast, rx_tlast}),
    .signals_o,
    .beats_o,
    .moved_o
  );

  roceproof_offer_check #(
    .Index    (Index),
    .Name     ("tx"),
    .Width    (DataWidth),
    .MarkWidth(DataWidth / 8 + 1)
  ) u_tx_check (
    .clk_i,
    .rst_ni,
    .valid_i(tx_tvalid),
    .ready_i(tx_tready),
    .data_i (tx_tdata),
    .marks_i({tx_tkeep, tx_tlast})
  );

endmodule

`default_nettype wire
