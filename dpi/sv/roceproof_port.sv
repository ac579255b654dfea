// SPDX-License-Identifier: BSD-2-Clause
//
// One Ethernet port of the simulated device: a DUT and the streams that feed it
// and drain it. Ports share nothing but the session.

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

  localparam bit IsXgmii = 1'b1;
`else
  localparam bit IsXgmii = 1'b0;
`endif

  logic         qpc_valid, qpc_ready;
  logic [511:0] qpc;
  logic         wr_valid, wr_ready;
  logic [319:0] wr;
  logic         cpl_valid, cpl_ready;
  logic [127:0] cpl;

  logic frame_poll, requester_poll, responder_poll;
  assign poll_o = frame_poll || requester_poll || responder_poll;

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
    .port_mac_i(mac_q), .port_gid_i(gid_q), .qpc_valid_i(qpc_valid), .qpc_ready_o(qpc_ready),
    .qpc_i(qpc), .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_i(wr), .pl_tdata_i(pl_tdata),
    .pl_tkeep_i(pl_tkeep), .pl_tvalid_i(pl_tvalid), .pl_tlast_i(pl_tlast), .pl_tready_o(pl_tready),
    .cpl_valid_o(cpl_valid), .cpl_ready_i(cpl_ready), .cpl_o(cpl),
`ifdef ROCEPROOF_XGMII
    .xgmii_txd_o(xgmii_txd), .xgmii_txc_o(xgmii_txc), .xgmii_rxd_i(xgmii_rxd),
    .xgmii_rxc_i(xgmii_rxc)
`else
    .tx_tdata_o(tx_tdata), .tx_tkeep_o(tx_tkeep), .tx_tvalid_o(tx_tvalid), .tx_tlast_o(tx_tlast),
    .tx_tuser_o(tx_tuser), .tx_tready_i(tx_tready), .rx_tdata_i(rx_tdata), .rx_tkeep_i(rx_tkeep),
    .rx_tvalid_i(rx_tvalid), .rx_tlast_i(rx_tlast), .rx_tuser_i(rx_tuser), .rx_tready_o(rx_tready)
`endif
`ifdef ROCEPROOF_RESPONDER
    ,
    .rcv_valid_i(rcv_valid), .rcv_ready_o(rcv_ready), .rcv_i(rcv), .rcp_valid_o(rcp_valid),
    .rcp_ready_i(rcp_ready), .rcp_o(rcp)
`ifndef ROCEPROOF_STATIC_KEYS
    ,
    .mr_valid_i(mr_valid), .mr_ready_o(mr_ready), .mr_i(mr)
`endif
`ifndef ROCEPROOF_BACKDOOR
    ,
    .mwc_valid_o(mwc_valid), .mwc_ready_i(mwc_ready), .mwc_o(mwc), .mwd_tdata_o(mwd_tdata),
    .mwd_tkeep_o(mwd_tkeep), .mwd_tvalid_o(mwd_tvalid), .mwd_tlast_o(mwd_tlast),
    .mwd_tready_i(mwd_tready), .mdn_valid_i(mdn_valid), .mdn_i(mdn)
`endif
`endif
`ifdef ROCEPROOF_MEMORY_READS
    ,
    .mrc_valid_o(mrc_valid), .mrc_ready_i(mrc_ready), .mrc_o(mrc), .mrd_tdata_i(mrd_tdata),
    .mrd_tkeep_i(mrd_tkeep), .mrd_tvalid_i(mrd_tvalid), .mrd_tlast_i(mrd_tlast),
    .mrd_tready_o(mrd_tready)
`endif
`ifdef ROCEPROOF_CM
    ,
    .cme_valid_o(cme_valid), .cme_ready_i(cme_ready), .cme_o(cme)
`endif
  );

`ifdef ROCEPROOF_XGMII
  roceproof_xgmii #(
    .Index(Index)
  ) u_xgmii (
    .clk_i,
    .rst_ni,
    .seed_i(seed_q),
    .rx_tdata_i(rx_tdata), .rx_tkeep_i(rx_tkeep), .rx_tvalid_i(rx_tvalid), .rx_tlast_i(rx_tlast),
    .rx_tuser_i(rx_tuser), .rx_tready_o(rx_tready), .tx_tdata_o(tx_tdata), .tx_tkeep_o(tx_tkeep),
    .tx_tvalid_o(tx_tvalid), .tx_tlast_o(tx_tlast), .tx_tuser_o(tx_tuser),
    .tx_tready_i(tx_tready),
    .rxd_o(xgmii_rxd), .rxc_o(xgmii_rxc), .txd_i(xgmii_txd), .txc_i(xgmii_txc)
  );
`endif

  roceproof_frame_streams #(
    .Index    (Index),
    .DataWidth(DataWidth),
    .Stalls   (!IsXgmii)
  ) u_frames (
    .clk_i,
    .rst_ni,
    .seed_i(seed_q),
    .cycle_i,
    .wake_i,
    .flow_i,
    .poll_o(frame_poll), .rx_tdata_o(rx_tdata), .rx_tkeep_o(rx_tkeep), .rx_tvalid_o(rx_tvalid),
    .rx_tlast_o(rx_tlast), .rx_tuser_o(rx_tuser), .rx_tready_i(rx_tready), .tx_tdata_i(tx_tdata),
    .tx_tkeep_i(tx_tkeep), .tx_tvalid_i(tx_tvalid), .tx_tlast_i(tx_tlast), .tx_tuser_i(tx_tuser),
    .tx_tready_o(tx_tready)
  );

  // With XGMII a completion waits as long as a frame's last beat takes from the wire to C.
  roceproof_requester_streams #(
    .Index    (Index),
    .DataWidth(DataWidth),
    .Wait     (IsXgmii ? 3 : 0)
  ) u_requester (
    .clk_i,
    .rst_ni,
    .seed_i(seed_q),
    .cycle_i,
    .wake_i,
    .flow_i,
    .poll_o(requester_poll), .qpc_o(qpc), .wr_o(wr), .cpl_i(cpl), .qpc_valid_o(qpc_valid),
    .qpc_ready_i(qpc_ready), .wr_valid_o(wr_valid), .wr_ready_i(wr_ready), .pl_tdata_o(pl_tdata),
    .pl_tkeep_o(pl_tkeep), .pl_tvalid_o(pl_tvalid), .pl_tlast_o(pl_tlast),
    .pl_tready_i(pl_tready), .cpl_valid_i(cpl_valid), .cpl_ready_o(cpl_ready)
  );

`ifdef ROCEPROOF_RESPONDER
  roceproof_responder_streams #(
    .Index    (Index),
    .DataWidth(DataWidth)
  ) u_responder (
    .clk_i,
    .rst_ni,
    .seed_i(seed_q),
    .cycle_i,
    .wake_i,
    .flow_i,
    .poll_o(responder_poll), .rcv_o(rcv), .rcp_i(rcp), .rcp_valid_i(rcp_valid),
    .rcp_ready_o(rcp_ready), .rcv_valid_o(rcv_valid), .rcv_ready_i(rcv_ready)
`ifndef ROCEPROOF_STATIC_KEYS
    ,
    .mr_o(mr), .mr_valid_o(mr_valid), .mr_ready_i(mr_ready)
`endif
`ifndef ROCEPROOF_BACKDOOR
    ,
    .mwc_i(mwc), .mdn_o(mdn), .mwc_valid_i(mwc_valid), .mwc_ready_o(mwc_ready),
    .mwd_tdata_i(mwd_tdata), .mwd_tkeep_i(mwd_tkeep), .mwd_tvalid_i(mwd_tvalid),
    .mwd_tlast_i(mwd_tlast), .mwd_tready_o(mwd_tready), .mdn_valid_o(mdn_valid)
`endif
`ifdef ROCEPROOF_MEMORY_READS
    ,
    .mrc_i(mrc), .mrc_valid_i(mrc_valid), .mrc_ready_o(mrc_ready), .mrd_tdata_o(mrd_tdata),
    .mrd_tkeep_o(mrd_tkeep), .mrd_tvalid_o(mrd_tvalid), .mrd_tlast_o(mrd_tlast),
    .mrd_tready_i(mrd_tready)
`endif
`ifdef ROCEPROOF_CM
    ,
    .cme_i(cme), .cme_valid_i(cme_valid), .cme_ready_o(cme_ready)
`endif
  );
`else
  assign responder_poll = 1'b0;
`endif

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
`endif

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

endmodule

`default_nettype wire
