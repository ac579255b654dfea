// SPDX-License-Identifier: BSD-2-Clause
//
// Keeps frames until they are whole, so that one that leaves never pauses for
// its source. A frame whose last beat has tuser never leaves; nor does one of
// which a beat came while s_tready_o was low, if Waits is 0: its source does
// not wait. If Waits is 1, a frame must fit.

`default_nettype none

module frame_fifo #(
  parameter int unsigned Width = 64,   // of what a beat is, tlast apart
  parameter int unsigned Beats = 2048,
  parameter bit          Waits = 1'b1,
  parameter int unsigned IndexBits = $clog2(Beats)
) (
  input  wire logic             clk_i,
  input  wire logic             rst_ni,
  input  wire logic [Width-1:0] s_tdata_i,
  input  wire logic             s_tvalid_i,
  input  wire logic             s_tlast_i,
  input  wire logic             s_tuser_i,
  output logic                  s_tready_o,
  output logic      [Width-1:0] m_tdata_o,
  output logic                  m_tvalid_o,
  output logic                  m_tlast_o,
  input  wire logic             m_tready_i,
  output logic [IndexBits:0]    used_o       // beats, of frames that are not whole, too
);

  typedef logic [IndexBits:0] place_t;  // one bit more than an index: full is not empty

  place_t write_q, begin_q, read_q;  // begin_q: of the frame that is not whole
  logic   lost_q;                    // a beat of it is
  logic   push, pop, lost;

  assign s_tready_o = used_o != place_t'(Beats);
  assign used_o     = write_q - read_q;
  assign push       = s_tvalid_i && s_tready_o;
  assign lost       = lost_q || (!Waits && s_tvalid_i && !s_tready_o);
  assign pop        = read_q != begin_q && (!m_tvalid_o || m_tready_i);

  ram_1r1w #(
    .Width(Width + 1),
    .Words(Beats)
  ) u_ram (
    .clk_i,
    .write_i      (push),
    .write_index_i(write_q[IndexBits-1:0]),
    .write_data_i ({s_tlast_i, s_tdata_i}),
    .read_i       (pop),
    .read_index_i (read_q[IndexBits-1:0]),
    .read_data_o  ({m_tlast_o, m_tdata_o})
  );

  always_ff @(posedge clk_i) begin
    if (push) write_q <= write_q + 1'b1;
    if (s_tvalid_i && s_tlast_i && (s_tready_o || !Waits)) begin
      if (s_tuser_i || lost) write_q <= begin_q;
      else                   begin_q <= write_q + 1'b1;
      lost_q <= 1'b0;
    end else begin
      lost_q <= lost;
    end
    if (pop) read_q <= read_q + 1'b1;
    if (m_tready_i || !m_tvalid_o) m_tvalid_o <= pop;
    if (!rst_ni) begin
      write_q    <= '0;
      begin_q    <= '0;
      read_q     <= '0;
      lost_q     <= 1'b0;
      m_tvalid_o <= 1'b0;
    end
  end

  assert_fits: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(Waits && !s_tready_o && read_q == begin_q && !m_tvalid_o))
  else $error("a frame is longer than all there is room for");

endmodule

`default_nettype wire
