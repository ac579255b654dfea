// SPDX-License-Identifier: BSD-2-Clause
//
// frame_mux begins no frame inside another, takes turns when both sides wait,
// holds what is not taken, and lets out each beat that it took and no other, its tag with it.
// Proved by make formal.

`default_nettype none

module frame_mux_properties (
  input wire logic       clk_i,
  input wire logic [6:0] a_data_i,
  input wire logic       a_valid_i,
  input wire logic       a_last_i,
  input wire logic [6:0] b_data_i,
  input wire logic       b_valid_i,
  input wire logic       b_last_i,
  input wire logic       m_ready_i
);

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // A beat says whose it is, in bit 0, and its tkeep goes with it.
  typedef struct packed {
    logic                last;
    logic                keep;
    roce_pkg::vlan_tag_t tag;
    logic [7:0]          data;
  } beat_t;

  beat_t a_beat, b_beat, m_beat;
  logic  a_ready, a_left, b_ready, m_valid, m_from_a;

  assign a_beat = '{last: a_last_i, keep: a_data_i[0], tag: 16'(a_data_i), data: {a_data_i, 1'b0}};
  assign b_beat = '{last: b_last_i, keep: b_data_i[0], tag: 16'(b_data_i), data: {b_data_i, 1'b1}};

  frame_mux #(
    .DataWidth(8)
  ) u_mux (
    .clk_i,
    .rst_ni    (rst_n),
    .a_tdata_i (a_beat.data),
    .a_tkeep_i (a_beat.keep),
    .a_tvalid_i(a_valid_i),
    .a_tlast_i (a_beat.last),
    .a_tag_i   (a_beat.tag),
    .a_tready_o(a_ready),
    .a_left_o  (a_left),
    .b_tdata_i (b_beat.data),
    .b_tkeep_i (b_beat.keep),
    .b_tvalid_i(b_valid_i),
    .b_tlast_i (b_beat.last),
    .b_tag_i   (b_beat.tag),
    .b_tready_o(b_ready),
    .m_tdata_o (m_beat.data),
    .m_tkeep_o (m_beat.keep),
    .m_tvalid_o(m_valid),
    .m_tlast_o (m_beat.last),
    .m_tag_o   (m_beat.tag),
    .m_from_a_o(m_from_a),
    .m_tready_i(m_ready_i)
  );

  logic  a_taken, b_taken;
  logic  ran_q = 1'b0;          // out of reset for a cycle
  logic  due_q;                 // the output has a beat to show
  logic  inside_q, b_served_q;  // a frame has begun; the latest beat came from b
  beat_t taken_q;

  assign a_taken = a_valid_i && a_ready;
  assign b_taken = b_valid_i && b_ready;

  always_ff @(posedge clk_i) begin
    ran_q <= rst_n;
    due_q <= rst_n && (a_taken || b_taken || (m_valid && !m_ready_i));
    if (a_taken || b_taken) taken_q <= b_taken ? b_beat : a_beat;
    if (!rst_n) begin
      inside_q   <= 1'b0;
      b_served_q <= 1'b1;
    end else if (a_taken || b_taken) begin
      inside_q   <= !(b_taken ? b_last_i : a_last_i);
      b_served_q <= b_taken;
    end
  end

  always_comb begin
    if (rst_n) begin
      assert (!(a_taken && b_taken));
      if (inside_q) assert (b_served_q ? !a_taken : !b_taken);
      if (!inside_q && a_valid_i && b_valid_i) assert (b_served_q ? !b_taken : !a_taken);
      if (m_valid && !m_ready_i) assert (!a_taken && !b_taken);
      if ((!m_valid || m_ready_i) && !inside_q) assert ((a_taken || b_taken) == (a_valid_i || b_valid_i));
    end
    if (ran_q) begin
      assert (m_valid == due_q);
      if (m_valid) assert (m_beat == taken_q && m_from_a == !m_beat.data[0]);
      assert (a_left == (m_valid && m_ready_i && m_beat.last && !m_beat.data[0]));
    end
  end

endmodule

`default_nettype wire
