// SPDX-License-Identifier: BSD-2-Clause
//
// The MAC between a client and a line, both of which are files. Plays the frames
// of +sent= (their sideband: 8 times the mark, plus the class) into it, and +line=,
// a line of which is a cycle: whether the client is ready, then control bits and
// the data of XGMII, in hexadecimal. What comes of it in +cycles= cycles is
// written to +log=, a line for each cycle in which anything does: its number,
// XGMII, whether a marked frame has left, and the beat that the client takes, its
// tkeep 0 if none. With +loop the MAC hears itself instead.

`default_nettype none

module mac_tb;

  int          cycle, cycles, line, log;
  logic        clk, rst_n, ready, loop;
  string       path;

  logic [63:0] tx_tdata, rx_tdata, txd, rxd;
  logic [7:0]  tx_tkeep, rx_tkeep, txc, rxc;
  logic        tx_tvalid, tx_tlast, tx_tuser, tx_tready, tx_left;
  logic        rx_tvalid, rx_tlast;
  logic [13:0] sideband, sideband_q;
  logic        amid_q;

  initial begin
    loop = $test$plusargs("loop") != 0;
    {clk, rst_n, cycle} = '0;
    {ready, rxc, rxd}   = {1'b1, 8'hFF, {8{8'h07}}};
    if (!$value$plusargs("cycles=%d", cycles)) $fatal(1, "+cycles= is missing");
    if (!$value$plusargs("line=%s", path)) $fatal(1, "+line= is missing");
    line = $fopen(path, "r");
    if (!$value$plusargs("log=%s", path)) $fatal(1, "+log= is missing");
    log = $fopen(path, "w");
    if (line == 0 || log == 0) $fatal(1, "cannot open +line= or +log=");
    forever #5 clk = !clk;
  end

  frame_source #(
    .DataWidth(64),
    .Plusarg  ("sent")
  ) u_source (
    .clk_i(clk), .rst_ni(rst_n), .tdata_o(tx_tdata), .tkeep_o(tx_tkeep), .tvalid_o(tx_tvalid),
    .tlast_o(tx_tlast), .tuser_o(tx_tuser), .sideband_o(sideband), .tready_i(tx_tready)
  );

  // The first beat's sideband is the frame's.
  always_ff @(posedge clk) begin
    if (tx_tvalid && tx_tready) amid_q <= !tx_tlast;
    if (!amid_q) sideband_q <= sideband;
    if (!rst_n) amid_q <= 1'b0;
  end

  logic [13:0] kind;
  assign kind = amid_q ? sideband_q : sideband;

  mac_xgmii #(
    .RxBeats     (1024),
    .PauseBeats  (64),
    .PauseClasses(8'h0A),
    .PauseQuanta (16'd256)
  ) u_mac (
    .clk_i(clk), .rst_ni(rst_n), .port_mac_i(48'h020000000001), .tx_tdata_i(tx_tdata),
    .tx_tkeep_i(tx_tkeep), .tx_tvalid_i(tx_tvalid), .tx_tlast_i(tx_tlast), .tx_mark_i(kind[3]),
    .tx_class_i(kind[2:0]), .tx_tready_o(tx_tready), .tx_left_o(tx_left), .rx_tdata_o(rx_tdata),
    .rx_tkeep_o(rx_tkeep), .rx_tvalid_o(rx_tvalid), .rx_tlast_o(rx_tlast), .rx_tready_i(ready),
    .xgmii_txd_o(txd), .xgmii_txc_o(txc), .xgmii_rxd_i(loop ? txd : rxd),
    .xgmii_rxc_i(loop ? txc : rxc)
  );

  task automatic play();
    automatic logic        is_ready;
    automatic logic [7:0]  control;
    automatic logic [63:0] data;
    if ($fscanf(line, "%b %h %h", is_ready, control, data) == 3) begin
      ready      <= is_ready;
      {rxc, rxd} <= {control, data};
    end else begin
      ready      <= 1'b1;
      {rxc, rxd} <= {8'hFF, {8{8'h07}}};
      $fclose(line);
      line = 0;
    end
  endtask

  logic taken;
  assign taken = rx_tvalid && ready;

  always @(posedge clk) begin
    rst_n <= cycle >= 4;
    if (rst_n && (txc != '1 || txd != {8{8'h07}} || tx_left || taken)) begin
      $fdisplay(log, "%0d %h %h %b %b %h %h", cycle, txc, txd, tx_left, taken && rx_tlast,
                taken ? rx_tkeep : 8'd0, rx_tdata);
    end
    if (rst_n && line != 0) play();
    cycle = cycle + 1;
    if (cycle == cycles) begin
      $display("PASS");
      $finish;
    end
  end

  logic unused;
  assign unused = ^{tx_tuser, kind[13:4]};

endmodule

`default_nettype wire
