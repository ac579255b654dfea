// SPDX-License-Identifier: BSD-2-Clause
//
// First in, first out, with valid/ready on both sides. The storage is a memory
// read without a clock (distributed RAM), so an entry can be taken the cycle
// after it was put in. Neither side's ready or valid depends on the other
// side within a cycle.

`default_nettype none

module stream_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 16
) (
  input  wire logic             clk_i,
  input  wire logic             rst_ni,

  input  wire logic [Width-1:0] s_data_i,
  input  wire logic             s_valid_i,
  output      logic             s_ready_o,

  output      logic [Width-1:0] m_data_o,
  output      logic             m_valid_o,
  input  wire logic             m_ready_i
);

  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_check_depth
    $error("stream_fifo: Depth must be a power of two, at least 2");
  end

  localparam int unsigned IndexBits = $clog2(Depth);

  logic [Width-1:0]   memory [Depth];
  logic [IndexBits:0] write_q, read_q;  // one bit more than an index: full is not empty

  assign s_ready_o = write_q != {!read_q[IndexBits], read_q[IndexBits-1:0]};
  assign m_valid_o = write_q != read_q;
  assign m_data_o  = memory[read_q[IndexBits-1:0]];

  always_ff @(posedge clk_i) begin
    if (s_valid_i && s_ready_o) memory[write_q[IndexBits-1:0]] <= s_data_i;

    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (s_valid_i && s_ready_o) write_q <= write_q + 1'b1;
      if (m_valid_o && m_ready_i) read_q  <= read_q + 1'b1;
    end
  end

endmodule

`default_nettype wire
