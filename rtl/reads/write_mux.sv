// SPDX-License-Identifier: BSD-2-Clause
//
// Merges two writers to memory: commands by turns, the data of each in the order of the
// commands, and dones to whom the top bit of their tag names; writers leave it 0.

`default_nettype none

module write_mux
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Depth     = 8,  // commands whose data are still to come
  localparam int unsigned Lanes = DataWidth / 8
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,

  input  wire logic                 a_valid_i,
  output      logic                 a_ready_o,
  input  wire memory_command_t      a_i,
  input  wire logic [DataWidth-1:0] a_tdata_i,
  input  wire logic [Lanes-1:0]     a_tkeep_i,
  input  wire logic                 a_tvalid_i,
  input  wire logic                 a_tlast_i,
  output      logic                 a_tready_o,
  output      logic                 a_done_o,

  input  wire logic                 b_valid_i,
  output      logic                 b_ready_o,
  input  wire memory_command_t      b_i,
  input  wire logic [DataWidth-1:0] b_tdata_i,
  input  wire logic [Lanes-1:0]     b_tkeep_i,
  input  wire logic                 b_tvalid_i,
  input  wire logic                 b_tlast_i,
  output      logic                 b_tready_o,
  output      logic                 b_done_o,

  output      logic                 m_valid_o,
  input  wire logic                 m_ready_i,
  output      memory_command_t      m_o,
  output      logic [DataWidth-1:0] m_tdata_o,
  output      logic [Lanes-1:0]     m_tkeep_o,
  output      logic                 m_tvalid_o,
  output      logic                 m_tlast_o,
  input  wire logic                 m_tready_i,
  input  wire logic                 done_valid_i,
  input  wire memory_done_t         done_i
);

  logic given_q, held_q, is_b, room, owner_valid, owner_is_b;

  // What is offered stays until it is taken.
  assign is_b      = held_q ? given_q : b_valid_i && (!a_valid_i || !given_q);
  assign m_valid_o = room && (a_valid_i || b_valid_i);
  assign a_ready_o = room && m_ready_i && !is_b;
  assign b_ready_o = room && m_ready_i && is_b;

  always_comb begin
    m_o         = is_b ? b_i : a_i;
    m_o.tag[15] = is_b;
  end

  always_ff @(posedge clk_i) begin
    if (m_valid_o) given_q <= is_b;
    held_q <= m_valid_o && !m_ready_i;
    if (!rst_ni) begin
      given_q <= 1'b0;
      held_q  <= 1'b0;
    end
  end

  stream_fifo #(
    .Width(1),
    .Depth(Depth)
  ) u_owners (
    .clk_i,
    .rst_ni,
    .s_data_i (is_b),
    .s_valid_i(m_valid_o && m_ready_i),
    .s_ready_o(room),
    .m_data_o (owner_is_b),
    .m_valid_o(owner_valid),
    .m_ready_i(m_tvalid_o && m_tready_i && m_tlast_o)
  );

  assign m_tdata_o  = owner_is_b ? b_tdata_i : a_tdata_i;
  assign m_tkeep_o  = owner_is_b ? b_tkeep_i : a_tkeep_i;
  assign m_tlast_o  = owner_is_b ? b_tlast_i : a_tlast_i;
  assign m_tvalid_o = owner_valid && (owner_is_b ? b_tvalid_i : a_tvalid_i);
  assign a_tready_o = owner_valid && !owner_is_b && m_tready_i;
  assign b_tready_o = owner_valid && owner_is_b && m_tready_i;

  assign a_done_o = done_valid_i && !done_i.tag[15];
  assign b_done_o = done_valid_i && done_i.tag[15];

endmodule

`default_nettype wire
