// SPDX-License-Identifier: BSD-2-Clause
//
// Any stream of bytes to any other width: the kept lanes of a beat, one run
// of them wherever it begins, go on from lane 0, and every beat but a frame's
// last is full. With InLanes == OutLanes it aligns lanes; with InLanes 1 it
// makes a wide stream of a byte-wide core's, with OutLanes 1 the reverse.
// Null lanes come out as ones, lest a core come to rely on zeros behind the
// end. tuser counts with tlast. At equal widths a beat moves in every cycle.

`default_nettype none

module stream_gearbox #(
  parameter int unsigned InLanes  = 8,
  parameter int unsigned OutLanes = 8
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,

  input  wire logic [8*InLanes-1:0]  s_tdata_i,
  input  wire logic [InLanes-1:0]    s_tkeep_i,
  input  wire logic                  s_tvalid_i,
  input  wire logic                  s_tlast_i,
  input  wire logic                  s_tuser_i,
  output logic                       s_tready_o,

  output logic [8*OutLanes-1:0]      m_tdata_o,
  output logic [OutLanes-1:0]        m_tkeep_o,
  output logic                       m_tvalid_o,
  output logic                       m_tlast_o,
  output logic                       m_tuser_o,
  input  wire logic                  m_tready_i
);

  localparam int unsigned Capacity  = InLanes + OutLanes - 1;
  localparam int unsigned CountBits = $clog2(Capacity + 1);

  typedef logic [CountBits-1:0]  count_t;
  typedef logic [8*Capacity-1:0] bytes_t;

  localparam count_t Full = count_t'(OutLanes);

  bytes_t bytes_q;   // the next byte is the lowest
  count_t count_q;   // how many are held
  logic   ending_q;  // and the frame has no more
  logic   user_q;

  logic                 give;
  count_t               left;        // held behind what is given in this cycle
  bytes_t               held;
  logic [8*InLanes-1:0] fresh;       // what comes, from its first kept lane on
  count_t               fresh_count;

  assign m_tvalid_o = count_q >= Full || (ending_q && count_q != '0);
  assign m_tlast_o  = ending_q && count_q <= Full;
  assign m_tuser_o  = m_tlast_o && user_q;
  assign give       = m_tvalid_o && m_tready_i;
  assign left       = !give ? count_q : m_tlast_o ? '0 : count_q - Full;
  assign s_tready_o = left < Full && (!ending_q || (give && m_tlast_o));

  always_comb begin
    for (int unsigned lane = 0; lane < OutLanes; lane++) begin
      m_tkeep_o[lane]      = count_t'(lane) < count_q;
      m_tdata_o[8*lane+:8] = m_tkeep_o[lane] ? bytes_q[8*lane+:8] : '1;
    end
  end

  always_comb begin
    held = give ? bytes_t'({{8*OutLanes{1'b0}}, bytes_q} >> (8 * OutLanes)) : bytes_q;
    held &= ~({8*Capacity{1'b1}} << {left, 3'b000});
    fresh       = '0;
    fresh_count = '0;
    for (int unsigned lane = 0; lane < InLanes; lane++) begin
      if (s_tkeep_i[lane]) begin
        fresh[8*fresh_count+:8] = s_tdata_i[8*lane+:8];
        fresh_count             = fresh_count + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q  <= '0;
      ending_q <= 1'b0;
    end else begin
      bytes_q <= held;
      count_q <= left;
      if (give && m_tlast_o) ending_q <= 1'b0;
      if (s_tvalid_i && s_tready_o) begin
        bytes_q  <= held | (bytes_t'(fresh) << {left, 3'b000});
        count_q  <= left + fresh_count;
        ending_q <= s_tlast_i;
        user_q   <= s_tuser_i;
      end
    end
  end

endmodule

`default_nettype wire
