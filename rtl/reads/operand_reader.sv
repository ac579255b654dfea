// SPDX-License-Identifier: BSD-2-Clause
//
// Takes the operands of READs and atomics off the payload stream and hands them
// on beside the work request; other work passes in the same cycle, and its payload
// as it comes. While hold_i is high no work is taken. stale_o says of a READ or an
// atomic that its queue pair has started anew since it was taken.

`default_nettype none

module operand_reader
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Qps       = 16,
  parameter int unsigned Depth     = 8  // work whose payload is still to come
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 hold_i,
  input  wire logic                 configure_i,
  input  wire qp_config_t           config_i,

  input  wire logic                 wr_valid_i,
  output      logic                 wr_ready_o,
  input  wire work_request_t        wr_i,
  input  wire logic [DataWidth-1:0] pl_tdata_i,
  input  wire logic                 pl_tvalid_i,
  input  wire logic                 pl_tlast_i,
  output      logic                 pl_tready_o,

  output      logic                 wr_valid_o,
  input  wire logic                 wr_ready_i,
  output      work_request_t        wr_o,
  output      operands_t            operands_o,
  output      logic                 stale_o,
  output      logic [DataWidth-1:0] pl_tdata_o,
  output      logic                 pl_tvalid_o,
  output      logic                 pl_tlast_o,
  input  wire logic                 pl_tready_i
);

  localparam int unsigned OperandBits  = $bits(operands_t);
  localparam int unsigned OperandBytes = OperandBits / 8;
  localparam int unsigned IndexBits    = $clog2(Qps);

  typedef enum logic [1:0] {
    StPass,
    StCollect,  // the operands of wr_q are to come
    StOffer
  } state_e;

  state_e                 state_q;
  logic                   stale_q;
  work_request_t          wr_q;
  logic                   asks, passes, takes, owner_room, owner_valid, is_operands, collects;
  logic [OperandBits-1:0] collected_q;  // the first byte in bits 7:0

  assign asks       = wr_i.operation inside {OpRead, OpCmpSwap, OpFetchAdd};
  assign passes     = state_q == StPass && !hold_i && owner_room;
  assign wr_valid_o = state_q == StOffer || (passes && wr_valid_i && !asks);
  assign wr_ready_o = passes && (asks || wr_ready_i);
  assign wr_o       = state_q == StOffer ? wr_q : wr_i;
  assign stale_o    = state_q == StOffer && stale_q;
  assign takes      = wr_valid_i && wr_ready_o;

  // Whose payload comes next.
  stream_fifo #(
    .Width(1),
    .Depth(Depth)
  ) u_owners (
    .clk_i,
    .rst_ni,
    .s_data_i (asks),
    .s_valid_i(takes && (asks || wr_i.length != '0)),
    .s_ready_o(owner_room),
    .m_data_o (is_operands),
    .m_valid_o(owner_valid),
    .m_ready_i(pl_tvalid_i && pl_tready_o && pl_tlast_i)
  );

  assign collects    = owner_valid && is_operands;
  assign pl_tready_o = collects || (owner_valid && pl_tready_i);
  assign pl_tvalid_o = owner_valid && !is_operands && pl_tvalid_i;
  assign pl_tdata_o  = pl_tdata_i;
  assign pl_tlast_o  = pl_tlast_i;

  for (genvar i = 0; i < OperandBytes; i++) begin : gen_operands
    assign operands_o[8*i+:8] = collected_q[8*(OperandBytes-1-i)+:8];
  end

  always_ff @(posedge clk_i) begin
    if (takes) begin
      wr_q    <= wr_i;
      stale_q <= 1'b0;
    end
    if (configure_i && config_i.local_qpn[IndexBits-1:0] == wr_q.qpn[IndexBits-1:0]
        && state_q != StPass) stale_q <= 1'b1;
    if (collects && pl_tvalid_i) begin
      collected_q <= OperandBits'({pl_tdata_i, collected_q} >> (DataWidth < OperandBits ? DataWidth
                                                                                        : OperandBits));
    end

    case (state_q)
      StPass:    if (takes && asks) state_q <= StCollect;
      StCollect: if (collects && pl_tvalid_i && pl_tlast_i) state_q <= StOffer;
      default:   if (wr_ready_i) state_q <= StPass;
    endcase
    if (!rst_ni) state_q <= StPass;
  end

endmodule

`default_nettype wire
