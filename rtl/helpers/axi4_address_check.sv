// SPDX-License-Identifier: BSD-2-Clause
//
// Watches what an AXI4 master says on AW or AR: an address that is offered
// stays until it is taken, and its burst is one of AXI4 that axi4_memory knows.

`default_nettype none

module axi4_address_check #(
  parameter string       Name      = "aw",
  parameter int unsigned BusWidth  = 64,
  parameter int unsigned AddrWidth = 64,
  parameter int unsigned IdWidth   = 4,
  parameter int unsigned MostBeats = 256
) (
  input wire logic                 clk_i,
  input wire logic                 rst_ni,
  input wire logic [IdWidth-1:0]   id_i,
  input wire logic [AddrWidth-1:0] addr_i,
  input wire logic [7:0]           len_i,
  input wire logic [2:0]           size_i,
  input wire logic [1:0]           burst_i,
  input wire logic                 valid_i,
  input wire logic                 ready_i
);

  localparam logic [1:0] Incr = 2'b01;
  localparam int         Wide = $clog2(BusWidth / 8);

  logic [IdWidth+AddrWidth+12:0] offer, offer_q;
  logic                          waiting_q;
  logic [15:0]                   end_in_page;  // behind the last byte, from the 4 KiB boundary on

  assign offer       = {id_i, addr_i, len_i, size_i, burst_i};
  assign end_in_page = ((16'(addr_i[11:0]) >> size_i) + 16'(len_i) + 16'd1) << size_i;

  always_ff @(posedge clk_i) begin
    waiting_q <= rst_ni && valid_i && !ready_i;
    offer_q   <= offer;
    if (rst_ni && waiting_q) begin
      Kept :
      assert (valid_i)
      else $fatal(1, "axi: %svalid fell before %sready rose", Name, Name);
      Stable :
      assert (!valid_i || offer == offer_q)
      else $fatal(1, "axi: %s changed while it waited for %sready", Name, Name);
    end
    if (rst_ni && valid_i) begin
      IsIncr :
      assert (burst_i == Incr)
      else $fatal(1, "axi: %sburst is %0d, and only INCR (1) is known here", Name, burst_i);
      NotWider :
      assert (int'(size_i) <= Wide)
      else $fatal(1, "axi: %ssize is %0d: wider than the bus", Name, size_i);
      NotLonger :
      assert (32'(len_i) < MostBeats)
      else $fatal(1, "axi: %slen is %0d: more than %0d beats", Name, len_i, MostBeats);
      InPage :
      assert (end_in_page <= 16'd4096)
      else $fatal(1, "axi: %s crosses a boundary of 4 KiB, from %h on", Name, addr_i);
    end
  end

endmodule

`default_nettype wire
