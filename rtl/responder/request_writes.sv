// SPDX-License-Identifier: BSD-2-Clause
//
// The commands to write that one request leads to: the network header of a
// datagram, then, with what else is done about the request, its payload or what
// an atomic stores. They wait until memory may change: ready_o says that nothing
// is left to wait for but the last of them, which goes when acts_i says so.

`default_nettype none

module request_writes
  import request_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::memory_command_t;
#(
  parameter logic [31:0] HeadBytes = Ipv4Bytes  // of the network header, at the end of its place
) (
  input  wire logic            clk_i,
  input  wire logic            rst_ni,

  input  wire logic            decided_i,   // what follows is known
  input  wire decision_t       decision_i,
  input  wire logic            stores_i,    // the atomic does
  input  wire logic [63:0]     address_i,   // in memory
  input  wire logic [15:0]     payload_bytes_i,
  input  wire write_count_t    asked_i,
  input  wire logic            may_write_i,
  output      logic            ready_o,
  input  wire logic            acts_i,

  output      logic            write_valid_o,
  input  wire logic            write_ready_i,
  output      memory_command_t write_o,
  output      logic            is_short_o   // its data are not the payload
);

  logic headed_q, heads, writes, room;

  assign room    = write_ready_i && may_write_i;
  assign heads   = decided_i && decision_i.heads && !headed_q;
  assign writes  = decision_i.writes || (decision_i.operates && stores_i);
  assign ready_o = !heads && (!writes || room);

  assign write_valid_o = heads ? room : acts_i && writes;
  assign is_short_o    = heads || decision_i.operates;

  always_comb begin
    write_o         = '0;
    write_o.tag     = 16'(asked_i);
    write_o.address = address_i;
    write_o.length  = 32'(payload_bytes_i);
    if (decision_i.operates) write_o.length = AtomicBytes;
    if (decision_i.heads) write_o.address = address_i + 64'(NetworkHeaderBytes);
    if (heads) begin
      write_o.address = address_i + 64'(NetworkHeaderBytes) - 64'(HeadBytes);
      write_o.length  = HeadBytes;
    end
  end

  always_ff @(posedge clk_i) begin
    if (heads && room) headed_q <= 1'b1;
    if (acts_i || !rst_ni) headed_q <= 1'b0;
  end

endmodule

`default_nettype wire
