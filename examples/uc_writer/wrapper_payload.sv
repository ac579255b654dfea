// SPDX-License-Identifier: BSD-2-Clause
//
// The contract's payload stream as the core wants it: 32-bit words, first byte
// on top, starting with the message's first byte whatever lane that comes in.
// Null lanes count as ones, lest the core come to rely on zeros behind the end.

`default_nettype none

module wrapper_payload (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,

  input  wire logic [63:0] tdata_i,
  input  wire logic [7:0]  tkeep_i,
  input  wire logic        tvalid_i,
  input  wire logic        tlast_i,
  output logic             tready_o,

  output logic [31:0]      word_o,
  output logic             valid_o,
  output logic             last_o,
  input  wire logic        ready_i
);

  logic [87:0] bytes_q;  // the next byte is the lowest
  logic [3:0]  count_q;  // 0..11 bytes are held
  logic        ending_q; // and the message has no more

  logic [2:0]  null_lanes;
  logic [63:0] fresh;
  logic [87:0] held;

  always_comb begin
    null_lanes = '0;
    fresh      = '1;
    for (int lane = 7; lane >= 0; lane--) begin
      if (tkeep_i[lane]) begin
        null_lanes       = 3'(unsigned'(lane));
        fresh[8*lane+:8] = tdata_i[8*lane+:8];
      end
    end
    fresh >>= {null_lanes, 3'b000};
    held = bytes_q & ~({88{1'b1}} << {count_q, 3'b000});
  end

  assign tready_o = count_q < 4 && !ending_q;
  assign valid_o  = count_q >= 4 || (ending_q && count_q != 0);
  assign last_o   = ending_q && count_q <= 4;
  assign word_o   = {bytes_q[7:0], bytes_q[15:8], bytes_q[23:16], bytes_q[31:24]};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q  <= '0;
      ending_q <= 1'b0;
    end else if (tvalid_i && tready_o) begin
      bytes_q  <= held | (88'(fresh) << {count_q, 3'b000});
      count_q  <= count_q + 4'($countones(tkeep_i));
      ending_q <= tlast_i;
    end else if (valid_o && ready_i) begin
      bytes_q <= bytes_q >> 32;
      count_q <= last_o ? '0 : count_q - 4'd4;
      if (last_o) ending_q <= 1'b0;
    end
  end

endmodule

`default_nettype wire
