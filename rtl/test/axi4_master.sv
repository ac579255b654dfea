// SPDX-License-Identifier: BSD-2-Clause
//
// A random AXI4 master for axi4_memory_tb: bursts_i writes and reads each, of
// every size, length and set of strobes, with what is to come of them. Data may
// be offered before their address. fault_i makes it
// break one rule of AXI4 wherever it can.

`default_nettype none

module axi4_master #(
  parameter int unsigned BusWidth  = 64,
  parameter int unsigned IdWidth   = 4,
  parameter int unsigned MostBeats = 256
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire int                  bursts_i,
  input  wire int                  stall_i,  // percent
  input  wire logic                full_i,   // long aligned bursts of whole words only
  input  wire string               fault_i,

  output logic [IdWidth-1:0]       awid_o,
  output logic [31:0]              awaddr_o,
  output logic [7:0]               awlen_o,
  output logic [2:0]               awsize_o,
  output logic [1:0]               awburst_o,
  output logic                     awvalid_o,
  input  wire logic                awready_i,
  output logic [BusWidth-1:0]      wdata_o,
  output logic [BusWidth/8-1:0]    wstrb_o,
  output logic                     wlast_o,
  output logic                     wvalid_o,
  input  wire logic                wready_i,
  output logic [IdWidth-1:0]       arid_o,
  output logic [31:0]              araddr_o,
  output logic [7:0]               arlen_o,
  output logic [2:0]               arsize_o,
  output logic [1:0]               arburst_o,
  output logic                     arvalid_o,
  input  wire logic                arready_i
);

  localparam int unsigned Lanes = BusWidth / 8;
  localparam int unsigned Wide  = $clog2(Lanes);

  typedef struct packed {
    logic [IdWidth-1:0] id;
    logic [31:0]        addr;
    logic [7:0]         len;
    logic [2:0]         size;
    logic [1:0]         burst;
  } address_t;

  typedef struct packed {
    logic [BusWidth-1:0] data;
    logic [Lanes-1:0]    strobes;
    logic                last;
  } beat_t;

  address_t writes[$], reads[$];
  beat_t    beats[$];

  // What is to come: bytes in the order in which they are written, the commands,
  // the IDs of responses with the bytes that are in memory by then, and R.
  logic [39:0]        want_bytes[$];     // address, byte
  logic [63:0]        want_commands[$];  // address, length
  logic [IdWidth-1:0] want_ids[$];
  int                 want_counts[$];
  logic [63:0]        want_reads[$];
  logic [IdWidth-1:0] want_r_ids[$];
  logic               want_r_last[$];
  logic [31:0]        want_r_addrs[$];   // of the first byte of a beat
  logic [7:0]         want_r_bytes[$];
  int                 count = 0;

  function automatic logic chance(input int percent);
    return int'($urandom % 100) < percent;
  endfunction

  function automatic address_t some_address();
    automatic address_t    a;
    automatic int unsigned most;
    a.id    = IdWidth'($urandom);
    a.burst = 2'b01;
    a.size  = full_i || chance(50) ? 3'(Wide) : 3'($urandom % (Wide + 1));
    a.addr  = $urandom % 32'h4000;
    if (full_i) a.addr = a.addr & 32'hf000;
    else if (chance(30)) a.addr = a.addr | 32'hff0;
    most   = (32'h1000 >> a.size) - ((a.addr & 32'hfff) >> a.size);
    if (most > MostBeats) most = MostBeats;
    a.len = full_i ? 8'd31 : 8'($urandom % (chance(80) && most > 8 ? 8 : most));
    return a;
  endfunction

  function automatic void add_write();
    automatic address_t a = some_address();
    automatic logic [31:0] at = a.addr, first = 0, behind = 0;
    automatic int kind = full_i ? 0 : int'($urandom % 8);  // 0 to 4 full, 5 and 6 with holes, 7 none
    for (int i = 0; i <= int'(a.len); i++) begin
      automatic beat_t       b;
      automatic logic [31:0] stop = ((at >> a.size) + 1) << a.size;
      for (int unsigned word = 0; word < Lanes; word++) b.data[8*word+:8] = 8'($urandom);
      b.strobes = '0;
      b.last    = i == int'(a.len);
      for (logic [31:0] byte_at = at; byte_at < stop; byte_at++) begin
        automatic int unsigned lane = byte_at % Lanes;
        b.strobes[lane] = kind < 5 || (kind < 7 && chance(60));
        if (!b.strobes[lane]) continue;
        want_bytes.push_back({byte_at, b.data[8*lane+:8]});
        count++;
        if (byte_at != behind || first == behind) begin
          if (first != behind) want_commands.push_back({first, behind - first});
          first = byte_at;
        end
        behind = byte_at + 1;
      end
      at = stop;
      beats.push_back(b);
    end
    if (first != behind) want_commands.push_back({first, behind - first});
    want_ids.push_back(a.id);
    want_counts.push_back(count);
    writes.push_back(a);
  endfunction

  function automatic void add_read();
    automatic address_t a = some_address();
    automatic logic [31:0] at = a.addr;
    for (int i = 0; i <= int'(a.len); i++) begin
      automatic logic [31:0] stop = ((at >> a.size) + 1) << a.size;
      want_r_ids.push_back(a.id);
      want_r_last.push_back(i == int'(a.len));
      want_r_addrs.push_back(at);
      want_r_bytes.push_back(8'(stop - at));
      at = stop;
    end
    want_reads.push_back({a.addr, at - a.addr});
    reads.push_back(a);
  endfunction

  // The rule that is broken, where the burst allows it.
  function automatic address_t spoiled(input address_t a, input string channel);
    automatic address_t b = a;
    if (fault_i == {channel, "burst"}) b.burst = 2'b10;
    if (fault_i == {channel, "size"}) b.size = 3'(Wide + 1);
    if (fault_i == {channel, "page"}) {b.addr, b.len, b.size} = {32'h0ffc, 8'd4, 3'd0};
    if (fault_i == {channel, "len"}) {b.addr, b.len, b.size} = {32'h0, 8'(MostBeats), 3'd0};
    return b;
  endfunction

  function automatic beat_t spoiled_beat(input beat_t a);
    automatic beat_t b = a;
    if (fault_i == "wlast_early") b.last = 1'b1;
    if (fault_i == "wlast_missing") b.last = 1'b0;
    if (fault_i == "wstrb") b.strobes = '1;
    return b;
  endfunction

  int made = 0;

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      awvalid_o <= 1'b0;
      wvalid_o  <= 1'b0;
      arvalid_o <= 1'b0;
    end else begin
      if (made < bursts_i && writes.size() < 4 && reads.size() < 4) begin
        add_write();
        add_read();
        made++;
      end
      if (!awvalid_o || awready_i) begin
        awvalid_o <= 1'b0;
        if (writes.size() != 0 && !chance(stall_i)) begin
          automatic address_t a = spoiled(writes.pop_front(), "aw");
          {awid_o, awaddr_o, awlen_o, awsize_o, awburst_o} <= a;
          awvalid_o <= 1'b1;
        end
      end
      if (!wvalid_o || wready_i) begin
        wvalid_o <= 1'b0;
        if (beats.size() != 0 && !chance(stall_i)) begin
          automatic beat_t b = spoiled_beat(beats.pop_front());
          {wdata_o, wstrb_o, wlast_o} <= b;
          wvalid_o <= 1'b1;
        end
      end
      if (!arvalid_o || arready_i) begin
        arvalid_o <= 1'b0;
        if (reads.size() != 0 && !chance(stall_i)) begin
          automatic address_t a = spoiled(reads.pop_front(), "ar");
          {arid_o, araddr_o, arlen_o, arsize_o, arburst_o} <= a;
          arvalid_o <= 1'b1;
        end
      end
      if (fault_i == "awvalid" && awvalid_o && !awready_i) awvalid_o <= 1'b0;
      if (fault_i == "wvalid" && wvalid_o && !wready_i) wvalid_o <= 1'b0;
      if (fault_i == "arvalid" && arvalid_o && !arready_i) arvalid_o <= 1'b0;
      if (fault_i == "aw" && awvalid_o && !awready_i) awlen_o <= ~awlen_o;
      if (fault_i == "w" && wvalid_o && !wready_i) wlast_o <= !wlast_o;
      if (fault_i == "ar" && arvalid_o && !arready_i) arid_o <= ~arid_o;
    end
  end

endmodule

`default_nettype wire
