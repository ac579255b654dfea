// SPDX-License-Identifier: BSD-2-Clause
//
// Stands in for the ARP cache that a core asks for its peer's MAC address: it
// knows the peers of the queue pairs that were configured, the last Entries of
// them, and answers in the next cycle. An address it never learned is an
// error, as a cache's that has asked in vain.

`default_nettype none

module arp_client_stub #(
  parameter int unsigned Entries = 16
) (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,

  input  wire logic        learn_valid_i,
  input  wire logic [31:0] learn_ip_i,
  input  wire logic [47:0] learn_mac_i,

  input  wire logic        request_valid_i,
  input  wire logic [31:0] request_ip_i,
  output logic             request_ready_o,

  output logic             response_valid_o,
  output logic             response_error_o,
  output logic [47:0]      response_mac_o,
  input  wire logic        response_ready_i
);

  localparam int unsigned IndexBits = Entries > 1 ? $clog2(Entries) : 1;

  logic [Entries-1:0]       known_q;
  logic [Entries-1:0][31:0] ip_q;
  logic [Entries-1:0][47:0] mac_q;
  logic [IndexBits-1:0]     oldest_q;

  logic        found;
  logic [47:0] mac;
  logic        learned;  // the address has an entry, whose MAC is replaced

  assign request_ready_o = !response_valid_o || response_ready_i;

  always_comb begin
    found   = 1'b0;
    mac     = '0;
    learned = 1'b0;
    for (int unsigned i = 0; i < Entries; i++) begin
      if (known_q[i] && ip_q[i] == request_ip_i) begin
        found = 1'b1;
        mac   = mac_q[i];
      end
      if (known_q[i] && ip_q[i] == learn_ip_i) learned = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known_q          <= '0;
      oldest_q         <= '0;
      response_valid_o <= 1'b0;
    end else begin
      if (request_ready_o) begin
        response_valid_o <= request_valid_i;
        response_error_o <= !found;
        response_mac_o   <= mac;
      end
      if (learn_valid_i) begin
        for (int unsigned i = 0; i < Entries; i++) begin
          if (learned ? known_q[i] && ip_q[i] == learn_ip_i : oldest_q == IndexBits'(i)) begin
            known_q[i] <= 1'b1;
            ip_q[i]    <= learn_ip_i;
            mac_q[i]   <= learn_mac_i;
          end
        end
        if (!learned) oldest_q <= oldest_q == IndexBits'(Entries - 1) ? '0 : oldest_q + 1'b1;
      end
    end
  end

endmodule

`default_nettype wire
