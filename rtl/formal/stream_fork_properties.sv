// SPDX-License-Identifier: BSD-2-Clause
//
// stream_fork hands each item to each taker once: never twice, and no item is
// gone before both have it. Proved by make formal.

`default_nettype none

module stream_fork_properties (
  input wire logic clk_i,
  input wire logic s_valid_i,
  input wire logic a_ready_i,
  input wire logic b_ready_i
);

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic s_ready, a_valid, b_valid;

  stream_fork u_fork (
    .clk_i,
    .rst_ni   (rst_n),
    .s_valid_i,
    .s_ready_o(s_ready),
    .a_valid_o(a_valid),
    .a_ready_i,
    .b_valid_o(b_valid),
    .b_ready_i
  );

  // Whether this item's taker has it.
  logic a_took_q, b_took_q;

  always_ff @(posedge clk_i) begin
    if (!rst_n || (s_valid_i && s_ready)) begin
      a_took_q <= 1'b0;
      b_took_q <= 1'b0;
    end else begin
      if (a_valid && a_ready_i) a_took_q <= 1'b1;
      if (b_valid && b_ready_i) b_took_q <= 1'b1;
    end
  end

  always_comb begin
    if (rst_n) begin
      assert (a_valid == (s_valid_i && !a_took_q));
      assert (b_valid == (s_valid_i && !b_took_q));
      if (s_valid_i && s_ready) begin
        assert (a_took_q || (a_valid && a_ready_i));
        assert (b_took_q || (b_valid && b_ready_i));
      end
      if (s_valid_i && a_ready_i && b_ready_i) assert (s_ready);
    end
  end

endmodule

`default_nettype wire
