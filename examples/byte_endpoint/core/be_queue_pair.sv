// SPDX-License-Identifier: BSD-2-Clause
//
// Whose the one queue pair is and what it may do: set up by its owner or by the
// connection manager, made deaf and dumb by whatever fails.

`default_nettype none

module be_queue_pair
  import be_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        set_i,       // by the owner: as set_qp_i says, or
  input  wire logic        forget_i,    // at the same time: no more
  input  wire queue_pair_t set_qp_i,
  input  wire logic        connect_i,   // by the connection manager
  input  wire queue_pair_t connected_i,
  input  wire logic        whole_i,     // its connection may send
  input  wire logic        fail_i,
  output queue_pair_t      qp_o,
  output logic             active_o,
  output logic             owned_o,
  output logic             ready_o,     // to send
  output logic             failed_o,
  output logic             begin_o      // it has begun
);

  // A queue pair that is not this one is forgotten anyway.
  logic forgets;
  assign forgets = set_i && forget_i && set_qp_i.qpn == qp_o.qpn;

  always_ff @(posedge clk_i) begin
    begin_o <= 1'b0;
    if (!rst_ni) begin
      active_o <= 1'b0;
      owned_o  <= 1'b0;
      ready_o  <= 1'b0;
      failed_o <= 1'b0;
    end else begin
      if (fail_i) failed_o <= 1'b1;  // unless it begins anew
      if (set_i && !forget_i) begin
        active_o <= 1'b1;
        owned_o  <= 1'b1;
        ready_o  <= set_qp_i.may_send;
      end
      if (forgets) begin
        active_o <= 1'b0;
        owned_o  <= 1'b0;
        ready_o  <= 1'b0;
      end
      if (connect_i) begin
        active_o <= 1'b1;
        ready_o  <= 1'b0;
      end
      if ((set_i && !forget_i) || connect_i) begin
        qp_o     <= connect_i ? connected_i : set_qp_i;
        begin_o  <= 1'b1;
        failed_o <= 1'b0;
      end
      if (whole_i) ready_o <= 1'b1;
    end
  end

endmodule

`default_nettype wire
