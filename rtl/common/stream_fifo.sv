// SPDX-License-Identifier: BSD-2-Clause
//
// First in, first out, with valid/ready on both sides. The storage is a memory
// read without a clock (distributed RAM), so an entry can be taken the cycle
// after it was put in. Ready and valid come from registers.

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
  typedef logic [IndexBits:0] place_t;  // one bit more than an index: full is not empty

  place_t write_q, read_q, held;
  logic   push, pop;

  assign held     = write_q - read_q;
  assign push     = s_valid_i && s_ready_o;
  assign pop      = m_valid_o && m_ready_i;
  assign m_data_o = memory[read_q[IndexBits-1:0]];

  always_ff @(posedge clk_i) begin
    if (push) memory[write_q[IndexBits-1:0]] <= s_data_i;

    if (!rst_ni) begin
      write_q   <= '0;
      read_q    <= '0;
      s_ready_o <= 1'b1;
      m_valid_o <= 1'b0;
    end else begin
      if (push) write_q <= write_q + 1'b1;
      if (pop)  read_q  <= read_q + 1'b1;
      s_ready_o <= s_ready_o ? !(push && !pop && held == place_t'(Depth - 1)) : pop;
      m_valid_o <= m_valid_o ? !(pop && !push && held == place_t'(1)) : push;
    end
  end

endmodule

`default_nettype wire
