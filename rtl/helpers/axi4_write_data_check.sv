// SPDX-License-Identifier: BSD-2-Clause
//
// Watches what an AXI4 master says on W, of a burst whose address was taken
// before: beats that are offered stay, strobes are in the beat's lanes, and
// WLAST comes with the last beat.

`default_nettype none

module axi4_write_data_check #(
  parameter int unsigned BusWidth  = 64,
  parameter int unsigned AddrWidth = 64
) (
  input wire logic                  clk_i,
  input wire logic                  rst_ni,
  input wire logic                  begins_i,  // the address of the next burst is taken
  input wire logic [AddrWidth-1:0]  addr_i,
  input wire logic [7:0]            len_i,
  input wire logic [2:0]            size_i,
  input wire logic [BusWidth-1:0]   wdata_i,
  input wire logic [BusWidth/8-1:0] wstrb_i,
  input wire logic                  wlast_i,
  input wire logic                  valid_i,
  input wire logic                  ready_i
);

  localparam int unsigned Lanes = BusWidth / 8;

  typedef logic [AddrWidth-1:0] addr_t;

  localparam addr_t InWord = addr_t'(Lanes) - addr_t'(1);

  logic                        waiting_q;
  logic [BusWidth+Lanes:0]     offer, offer_q;
  logic                        amid_q;
  addr_t                       addr_q, next_addr;
  logic [7:0]                  left_q;  // beats behind this one
  logic [2:0]                  size_q;
  logic [Lanes-1:0]            lanes;

  assign next_addr = ((addr_q >> size_q) + addr_t'(1)) << size_q;

  // Data without a strobe mean nothing, and may change.
  always_comb begin
    offer = {wdata_i, wstrb_i, wlast_i};
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      if (!wstrb_i[lane]) offer[1+Lanes+8*lane+:8] = '0;
    end
  end

  always_comb begin
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      automatic addr_t at = (addr_q & ~InWord) | addr_t'(lane);
      lanes[lane] = at >= addr_q && (at >> size_q) == (addr_q >> size_q);
    end
  end

  always_ff @(posedge clk_i) begin
    waiting_q <= rst_ni && valid_i && !ready_i;
    offer_q   <= offer;
    if (!rst_ni) begin
      amid_q <= 1'b0;
    end else begin
      if (valid_i && ready_i) begin
        addr_q <= next_addr;
        left_q <= left_q - 8'd1;
        amid_q <= !wlast_i;
      end
      if (begins_i) begin
        addr_q <= addr_i;
        left_q <= len_i;
        size_q <= size_i;
        amid_q <= 1'b1;
      end
    end
    if (rst_ni && waiting_q) begin
      Kept :
      assert (valid_i)
      else $fatal(1, "axi: wvalid fell before wready rose");
      Stable :
      assert (!valid_i || offer == offer_q)
      else $fatal(1, "axi: w changed while it waited for wready");
    end
    if (rst_ni && valid_i && amid_q) begin
      InLanes :
      assert ((wstrb_i & ~lanes) == '0)
      else $fatal(1, "axi: wstrb is %b where the beat's lanes are %b", wstrb_i, lanes);
      LastAtEnd :
      assert (wlast_i == (left_q == 8'd0))
      else $fatal(1, "axi: wlast is %b with %0d beats to come", wlast_i, left_q);
    end
  end

endmodule

`default_nettype wire
