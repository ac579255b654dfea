// SPDX-License-Identifier: BSD-2-Clause
//
// Works out atomics, one at a time. operate_i asks for it, and holds until
// taken_i; it is raised when nothing else is on its way to memory or from it.
// Then the eight bytes are read, the lowest first as the host has them, and
// with done_o it is said what was there, what shall be, and whether that is to
// be stored. At all other times the port to read memory is that of s_*. Where
// Built is not set it does nothing.

`default_nettype none

module atomic_unit
  import request_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::memory_command_t;
#(
  parameter bit Built = 1'b0
) (
  input  wire logic            clk_i,
  input  wire logic            rst_ni,

  input  wire logic            operate_i,
  input  wire request_t        request_i,
  input  wire logic [63:0]     address_i,  // in memory
  output      logic            done_o,
  output      logic            stores_o,
  output      logic [63:0]     original_o,
  output      logic [63:0]     result_o,
  input  wire logic            taken_i,

  input  wire logic            s_command_valid_i,
  output      logic            s_command_ready_o,
  input  wire memory_command_t s_command_i,
  output      logic            s_tvalid_o,
  input  wire logic            s_tready_i,

  output      logic            m_command_valid_o,
  input  wire logic            m_command_ready_i,
  output      memory_command_t m_command_o,
  input  wire logic [63:0]     m_tdata_i,  // the lowest lanes
  input  wire logic            m_tvalid_i,
  output      logic            m_tready_o
);

  typedef enum logic [1:0] {
    StIdle,
    StAsk,
    StWait,
    StDone
  } state_e;

  state_e      state_q;
  logic        is_equal, asks, waits;
  logic [63:0] sum;

  assign asks     = state_q == StAsk;
  assign waits    = state_q == StWait;
  assign is_equal = original_o == request_i.compare;
  assign sum      = original_o + request_i.swap_or_add;
  assign done_o   = state_q == StDone;
  assign stores_o = is_fetch_add(request_i) || is_equal;
  assign result_o = is_fetch_add(request_i) ? sum : request_i.swap_or_add;

  assign m_command_valid_o = asks || s_command_valid_i;
  assign s_command_ready_o = m_command_ready_i && !asks;
  assign m_command_o       = asks ? '{address: address_i, length: AtomicBytes, default: '0}
                                  : s_command_i;
  assign s_tvalid_o        = m_tvalid_i && !waits;
  assign m_tready_o        = waits || s_tready_i;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      StIdle: if (operate_i && Built) state_q <= StAsk;
      StAsk: if (m_command_ready_i) state_q <= StWait;
      StWait: if (m_tvalid_i) state_q <= StDone;
      StDone: if (taken_i) state_q <= StIdle;
    endcase
    if (waits) original_o <= m_tdata_i;
    if (!rst_ni) state_q <= StIdle;
  end

  port_is_free: assert property (@(posedge clk_i) disable iff (!rst_ni)
      asks || waits |-> !s_command_valid_i);

endmodule

`default_nettype wire
