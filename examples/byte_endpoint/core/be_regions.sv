// SPDX-License-Identifier: BSD-2-Clause
//
// The memory that keys name, built in: each region begins at address 0 for whoever
// names its key. The manifest lists the same table.

`default_nettype none

module be_regions (
  input  wire logic [31:0] key_i,
  input  wire logic [63:0] address_i,
  input  wire logic [31:0] length_i,
  input  wire logic        for_peer_i,  // a WRITE of the peer, not a receive of ours
  output logic             allowed_o,
  output logic [14:0]      place_o      // in the memory
);

  typedef struct packed {
    logic [31:0] key;
    logic [14:0] base;
    logic [15:0] bytes;
    logic        is_ours;    // receives may name it
    logic        is_peers;   // WRITEs may
  } region_t;

  localparam int Regions = 7;
  localparam region_t [Regions-1:0] Table = {
    region_t'{32'hBE00_0001, 15'h0000, 16'd4096, 1'b1, 1'b1},
    region_t'{32'hBE00_0002, 15'h1000, 16'd4096, 1'b1, 1'b1},
    region_t'{32'hBE00_0003, 15'h2000, 16'd4096, 1'b1, 1'b0},
    region_t'{32'hBE00_0004, 15'h3000, 16'd4096, 1'b0, 1'b1},
    region_t'{32'hBE00_0005, 15'h4000, 16'd1024, 1'b1, 1'b1},
    region_t'{32'hBE00_0006, 15'h4400, 16'd64,   1'b1, 1'b1},
    region_t'{32'hBE00_0007, 15'h4800, 16'd13312, 1'b1, 1'b1}
  };

  always_comb begin
    allowed_o = 1'b0;
    place_o   = '0;
    for (int i = 0; i < Regions; i++) begin
      if (Table[i].key == key_i) begin
        place_o   = Table[i].base + address_i[14:0];
        allowed_o = (for_peer_i ? Table[i].is_peers : Table[i].is_ours)
                 && address_i <= 64'(Table[i].bytes) && length_i <= 32'(Table[i].bytes)
                 && address_i[16:0] + length_i[16:0] <= 17'(Table[i].bytes);
      end
    end
  end

endmodule

`default_nettype wire
