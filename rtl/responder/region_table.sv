// SPDX-License-Identifier: BSD-2-Clause
//
// The memory regions. A record writes the entry that the low bits of its rkey
// select; those of its lkey are the same. A query is answered one cycle later,
// and until the next one: whether the access is permitted, by key, protection
// domain, right and range, and where in memory it lies. A range that runs past
// the end of the address space does not come round. With the answer the region
// may be forgotten, if key and protection domain are its own. After reset every
// entry is made empty, one per cycle, before ready_o rises.

`default_nettype none

module region_table
  import roceproof_dut_pkg::*;
  import responder_pkg::*;
#(
  parameter int unsigned Regions = 16
) (
  input  wire logic           clk_i,
  input  wire logic           rst_ni,
  output      logic           ready_o,

  input  wire logic           write_i,
  input  wire memory_region_t region_i,

  input  wire logic           query_valid_i,
  input  wire region_query_t  query_i,
  input  wire logic           forget_i,
  output      logic           permitted_o,
  output      logic [63:0]    address_o
);

  if (Regions < 2 || (Regions & (Regions - 1)) != 0) begin : gen_bad_regions
    $error("Regions must be a power of two, at least 2");
  end

  localparam int unsigned IndexBits = $clog2(Regions);

  logic [IndexBits:0] cleared_q;
  memory_region_t     entry, found;
  region_query_t      query_q;

  assign ready_o = cleared_q[IndexBits];

  logic                 names, writes;
  logic [IndexBits-1:0] index;

  assign writes = write_i || (forget_i && names) || !ready_o;

  always_comb begin
    index = cleared_q[IndexBits-1:0];
    entry = '0;
    if (ready_o) index = query_q.key[IndexBits-1:0];
    if (write_i) begin
      index = region_i.rkey[IndexBits-1:0];
      entry = region_i;
    end
  end

  ram_1r1w #(
    .Width($bits(memory_region_t)),
    .Words(Regions)
  ) u_entries (
    .clk_i,
    .write_i      (writes),
    .write_index_i(index),
    .write_data_i (entry),
    .read_i       (query_valid_i),
    .read_index_i (query_i.key[IndexBits-1:0]),
    .read_data_o  (found)
  );

  always_ff @(posedge clk_i) begin
    if (query_valid_i) query_q <= query_i;
    if (!rst_ni) cleared_q <= '0;
    else if (!ready_o) cleared_q <= cleared_q + 1'b1;
  end

  logic [31:0] key;
  logic        right, inside_range;

  assign key    = query_q.local_key ? found.lkey : found.rkey;
  assign right  = (found.access & query_q.right) != '0;
  assign inside_range = query_q.address >= found.va
      && 65'(query_q.address) + 65'(query_q.length) <= 65'(found.va) + 65'(found.length);

  assign names       = found.command == RegionRegister && key == query_q.key
      && found.pd == query_q.pd;
  assign permitted_o = names && right && inside_range;
  assign address_o   = found.base + (query_q.address - found.va);

endmodule

`default_nettype wire
