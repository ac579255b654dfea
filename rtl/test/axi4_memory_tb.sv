// SPDX-License-Identifier: BSD-2-Clause
//
// axi4_memory between a random master and a memory that stalls: every command
// and every byte in order, no response before its bytes are in memory, and what
// is read where it is read. +full wants a beat in every cycle. Prints PASS, or
// what was wrong.

`default_nettype none

module axi4_memory_tb
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned BusWidth  = 64,
  parameter int unsigned AddrWidth = 64   // 32 at least
);

  localparam int unsigned Lanes     = DataWidth / 8;
  localparam int unsigned MostBeats = 200;
  localparam int          Latency   = 20;
  localparam int          Deadline  = 200_000;

  logic  clk;
  logic  rst_n = 1'b0;
  int    bursts, stall, cycle = 0;
  logic  full;
  string fault;

  initial begin
    clk = 1'b0;
    if ($value$plusargs("bursts=%d", bursts) == 0) bursts = 300;
    if ($value$plusargs("stall=%d", stall) == 0) stall = 0;
    if ($value$plusargs("fault=%s", fault) == 0) fault = "";
    full = $test$plusargs("full") != 0;
    forever #5 clk = !clk;
  end

  logic [3:0]            awid, bid, arid, rid;
  logic [31:0]           awaddr, araddr;
  logic [7:0]            awlen, arlen;
  logic [2:0]            awsize, arsize;
  logic [1:0]            awburst, arburst, bresp, rresp;
  logic                  awvalid, awready, wlast, wvalid, wready, bvalid, bready;
  logic                  arvalid, arready, rlast, rvalid, rready;
  logic [BusWidth-1:0]   wdata, rdata;
  logic [BusWidth/8-1:0] wstrb;
  logic                  mwc_valid, mwc_ready, mwd_tvalid, mwd_tlast, mwd_tready, mdn_valid;
  logic                  mrc_valid, mrc_ready, mrd_tvalid, mrd_tlast, mrd_tready;
  memory_command_t       mwc, mrc;
  memory_done_t          mdn;
  logic [DataWidth-1:0]  mwd_tdata, mrd_tdata;
  logic [Lanes-1:0]      mwd_tkeep, mrd_tkeep;

  axi4_master #(.BusWidth(BusWidth), .MostBeats(MostBeats)) u_master (
    .clk_i(clk), .rst_ni(rst_n), .bursts_i(bursts), .stall_i(stall), .full_i(full),
    .fault_i(fault),
    .awid_o(awid), .awaddr_o(awaddr), .awlen_o(awlen), .awsize_o(awsize), .awburst_o(awburst),
    .awvalid_o(awvalid), .awready_i(awready),
    .wdata_o(wdata), .wstrb_o(wstrb), .wlast_o(wlast), .wvalid_o(wvalid), .wready_i(wready),
    .arid_o(arid), .araddr_o(araddr), .arlen_o(arlen), .arsize_o(arsize), .arburst_o(arburst),
    .arvalid_o(arvalid), .arready_i(arready));

  axi4_memory #(
    .DataWidth(DataWidth), .BusWidth(BusWidth), .AddrWidth(AddrWidth), .IdWidth(4),
    .MostBeats(MostBeats)
  ) u_memory (
    .clk_i(clk), .rst_ni(rst_n),
    .s_awid_i(awid), .s_awaddr_i(AddrWidth'(awaddr)), .s_awlen_i(awlen), .s_awsize_i(awsize),
    .s_awburst_i(awburst), .s_awvalid_i(awvalid), .s_awready_o(awready),
    .s_wdata_i(wdata), .s_wstrb_i(wstrb), .s_wlast_i(wlast), .s_wvalid_i(wvalid),
    .s_wready_o(wready),
    .s_bid_o(bid), .s_bresp_o(bresp), .s_bvalid_o(bvalid), .s_bready_i(bready),
    .s_arid_i(arid), .s_araddr_i(AddrWidth'(araddr)), .s_arlen_i(arlen), .s_arsize_i(arsize),
    .s_arburst_i(arburst), .s_arvalid_i(arvalid), .s_arready_o(arready),
    .s_rid_o(rid), .s_rdata_o(rdata), .s_rresp_o(rresp), .s_rlast_o(rlast), .s_rvalid_o(rvalid),
    .s_rready_i(rready),
    .mwc_valid_o(mwc_valid), .mwc_ready_i(mwc_ready), .mwc_o(mwc),
    .mwd_tdata_o(mwd_tdata), .mwd_tkeep_o(mwd_tkeep), .mwd_tvalid_o(mwd_tvalid),
    .mwd_tlast_o(mwd_tlast), .mwd_tready_i(mwd_tready),
    .mdn_valid_i(mdn_valid), .mdn_i(mdn),
    .mrc_valid_o(mrc_valid), .mrc_ready_i(mrc_ready), .mrc_o(mrc),
    .mrd_tdata_i(mrd_tdata), .mrd_tkeep_i(mrd_tkeep), .mrd_tvalid_i(mrd_tvalid),
    .mrd_tlast_i(mrd_tlast), .mrd_tready_o(mrd_tready));

  // What is offered stays, on every stream out of the module.
  roceproof_offer_check #(.Name("mwc"), .Width(128)) u_mwc_check (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(mwc_valid), .ready_i(mwc_ready), .data_i(mwc),
    .marks_i(1'b0));
  roceproof_offer_check #(.Name("mwd"), .Width(DataWidth), .MarkWidth(Lanes + 1)) u_mwd_check (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(mwd_tvalid), .ready_i(mwd_tready),
    .data_i(mwd_tdata), .marks_i({mwd_tkeep, mwd_tlast}));
  roceproof_offer_check #(.Name("mrc"), .Width(128)) u_mrc_check (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(mrc_valid), .ready_i(mrc_ready), .data_i(mrc),
    .marks_i(1'b0));
  roceproof_offer_check #(.Name("b"), .Width(6)) u_b_check (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(bvalid), .ready_i(bready), .data_i({bid, bresp}),
    .marks_i(1'b0));
  roceproof_offer_check #(.Name("r"), .Width(BusWidth), .MarkWidth(7)) u_r_check (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(rvalid), .ready_i(rready), .data_i(rdata),
    .marks_i({rid, rresp, rlast}));

  memory_command_t commands[$], reads[$];
  logic [7:0]      bytes[$];   // of data that have come and are not in memory
  int              lengths[$], due[$], read_due[$];
  int              length = 0, in_memory = 0, given = 0, responses = 0, ends = 0;
  int              w_first = 0, w_last = 0, w_beats = 0, r_first = 0, r_last = 0, r_beats = 0;

  // What a byte that is read holds.
  function automatic logic [7:0] holds(input logic [31:0] address);
    return 8'(address * 32'd167 >> 3) ^ 8'(address >> 8);
  endfunction

  function automatic logic draw();
    return int'($urandom % 100) >= stall;
  endfunction

  task automatic write();
    automatic memory_command_t command = commands.pop_front();
    automatic int              size = lengths.pop_front();
    void'(due.pop_front());
    if ({command.address[31:0], command.length} != u_master.want_commands.pop_front())
      $fatal(1, "FAIL: a write of %0d bytes to %h", command.length, command.address);
    if (size != int'(command.length)) $fatal(1, "FAIL: %0d bytes for %0d", size, command.length);
    for (int i = 0; i < size; i++) begin
      automatic logic [31:0] at = command.address[31:0] + i;
      if ({at, bytes.pop_front()} != u_master.want_bytes.pop_front())
        $fatal(1, "FAIL: another byte is written to %h", at);
    end
    in_memory += size;
    mdn_valid <= 1'b1;
    mdn       <= '{tag: command.tag, reserved: '0};
  endtask

  task automatic take_data();
    if (!mwd_tkeep[0] || (mwd_tkeep & (mwd_tkeep + 1'b1)) != '0 || !(mwd_tlast || &mwd_tkeep))
      $fatal(1, "FAIL: tkeep is %b", mwd_tkeep);
    for (int lane = 0; lane < $countones(mwd_tkeep); lane++) bytes.push_back(mwd_tdata[8*lane+:8]);
    length += $countones(mwd_tkeep);
    if (mwd_tlast) begin
      lengths.push_back(length);
      due.push_back(cycle + Latency);
      length = 0;
    end
  endtask

  task automatic offer_read();
    automatic int left = int'(reads[0].length) - given;
    for (int lane = 0; lane < int'(Lanes); lane++) begin
      mrd_tkeep[lane] <= lane < left;
      mrd_tdata[8*lane+:8] <= lane < left ? holds(reads[0].address[31:0] + given + lane)
                                          : 8'($urandom);
    end
    mrd_tvalid <= 1'b1;
    mrd_tlast  <= left <= int'(Lanes);
    given += int'(Lanes);
    if (left <= int'(Lanes)) begin
      void'(reads.pop_front());
      void'(read_due.pop_front());
      given = 0;
    end
  endtask

  task automatic take_read_beat();
    automatic logic [31:0] at = u_master.want_r_addrs.pop_front();
    automatic int          size = int'(u_master.want_r_bytes.pop_front());
    if (rid != u_master.want_r_ids.pop_front() || rlast != u_master.want_r_last.pop_front())
      $fatal(1, "FAIL: ID or RLAST of the beat at %h", at);
    for (int i = 0; i < size; i++) begin
      automatic int lane = int'((at + i) % (BusWidth / 8));
      if (rdata[8*lane+:8] != holds(at + i)) $fatal(1, "FAIL: another byte is read at %h", at + i);
    end
  endtask

  always @(posedge clk) begin
    cycle <= cycle + 1;
    rst_n <= cycle > 4;
    {mwc_ready, mwd_tready, mrc_ready, bready, rready} <= {draw(), draw(), draw(), draw(), draw()};
    mdn_valid <= 1'b0;
    if (!rst_n) begin
      mrd_tvalid <= 1'b0;
    end else begin
      if (mwc_valid && mwc_ready) commands.push_back(mwc);
      if (mwd_tvalid && mwd_tready) take_data();
      if (due.size() != 0 && commands.size() != 0 && due[0] <= cycle) write();
      if (bvalid && bready) begin
        responses++;
        if (bid != u_master.want_ids.pop_front()) $fatal(1, "FAIL: a response of another ID");
        if (bresp != 2'b00) $fatal(1, "FAIL: a response that is not OKAY");
        if (u_master.want_counts.pop_front() > in_memory)
          $fatal(1, "FAIL: a response before all is in memory");
      end
      if (mrc_valid && mrc_ready) begin
        if ({mrc.address[31:0], mrc.length} != u_master.want_reads.pop_front())
          $fatal(1, "FAIL: a read of %0d bytes from %h", mrc.length, mrc.address);
        reads.push_back(mrc);
        read_due.push_back(cycle + Latency);
      end
      if (mrd_tready) mrd_tvalid <= 1'b0;
      if (read_due.size() != 0 && read_due[0] <= cycle && (!mrd_tvalid || mrd_tready) && draw())
        offer_read();
      if (wvalid && wready) begin
        if (w_beats == 0) w_first = cycle;
        w_beats++;
        w_last = cycle;
      end
      if (rvalid && rready) begin
        take_read_beat();
        if (r_beats == 0) r_first = cycle;
        r_beats++;
        r_last = cycle;
        ends += int'(rlast);
      end
    end
    if (responses == bursts && ends == bursts) begin
      if (u_master.want_bytes.size() != 0 || u_master.want_commands.size() != 0)
        $fatal(1, "FAIL: %0d bytes are not written", u_master.want_bytes.size());
      if (full && (w_last - w_first >= w_beats || r_last - r_first >= r_beats))
        $fatal(1, "FAIL: %0d beats written in %0d cycles, %0d read in %0d", w_beats,
               w_last - w_first + 1, r_beats, r_last - r_first + 1);
      $display("PASS: %0d beats written, %0d read", w_beats, r_beats);
      $finish;
    end
    if (cycle > Deadline)
      $fatal(1, "FAIL: %0d responses to writes, %0d to reads of %0d", responses, ends, bursts);
  end

endmodule

`default_nettype wire
