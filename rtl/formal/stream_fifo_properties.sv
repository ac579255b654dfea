// SPDX-License-Identifier: BSD-2-Clause
//
// stream_fifo gives out what it took, in order, and is full and empty when it
// should be: the same as a list of items. Proved by make formal.

`default_nettype none

module stream_fifo_properties #(
  localparam int unsigned Width = 2,
  localparam int unsigned Depth = 4
) (
  input  wire logic             clk_i,
  input  wire logic [Width-1:0] s_data_i,
  input  wire logic             s_valid_i,
  input  wire logic             m_ready_i
);

  localparam int unsigned IndexBits = $clog2(Depth);

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic             s_ready, m_valid;
  logic [Width-1:0] m_data;

  stream_fifo #(
    .Width(Width),
    .Depth(Depth)
  ) u_fifo (
    .clk_i,
    .rst_ni   (rst_n),
    .s_data_i,
    .s_valid_i,
    .s_ready_o(s_ready),
    .m_data_o (m_data),
    .m_valid_o(m_valid),
    .m_ready_i
  );

  // The list, its first item in place 0.
  logic [Depth-1:0][Width-1:0] items_q;
  logic [IndexBits:0]          count_q, left;

  assign left = count_q - (IndexBits + 1)'(m_valid && m_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      count_q <= '0;
    end else begin
      if (m_valid && m_ready_i) items_q <= items_q >> Width;
      if (s_valid_i && s_ready) items_q[left[IndexBits-1:0]] <= s_data_i;
      count_q <= left + (IndexBits + 1)'(s_valid_i && s_ready);
    end
  end

  always_comb begin
    if (rst_n) begin
      assert (m_valid == (count_q != '0));
      assert (s_ready == (count_q < (IndexBits + 1)'(Depth)));
      if (m_valid) assert (m_data == items_q[0]);

      // What makes the step of the induction: how the FIFO keeps the list.
      assert (count_q == u_fifo.write_q - u_fifo.read_q);
      for (int unsigned n = 0; n < Depth; n++) begin
        if ((IndexBits + 1)'(n) < count_q) begin
          assert (items_q[n] == u_fifo.memory[u_fifo.read_q[IndexBits-1:0] + IndexBits'(n)]);
        end
      end
    end
  end

endmodule

`default_nettype wire
