// SPDX-License-Identifier: BSD-2-Clause
//
// Watches one output stream of the DUT: what is offered stays offered,
// unchanged, until it is taken.

`default_nettype none

module roceproof_offer_check #(
  parameter int          Index     = 0,
  parameter string       Name      = "stream",
  parameter int unsigned Width     = 64,
  parameter int unsigned MarkWidth = 1
) (
  input wire logic                 clk_i,
  input wire logic                 rst_ni,
  input wire logic                 valid_i,
  input wire logic                 ready_i,
  input wire logic [Width-1:0]     data_i,
  input wire logic [MarkWidth-1:0] marks_i  // what goes with the data
);

  logic                 waiting_q;
  logic [Width-1:0]     data_q;
  logic [MarkWidth-1:0] marks_q;

  always_ff @(posedge clk_i) begin
    waiting_q <= rst_ni && valid_i && !ready_i;
    if (valid_i && !ready_i && !waiting_q) begin
      data_q  <= data_i;
      marks_q <= marks_i;
    end
    if (rst_ni && waiting_q) begin
      OfferKept :
      assert (valid_i)
      else $fatal(1, "port %0d: %s_valid fell before ready rose", Index, Name);
      OfferStable :
      assert (data_i == data_q && marks_i == marks_q)
      else $fatal(1, "port %0d: %s changed while it waited for ready", Index, Name);
    end
  end

endmodule

`default_nettype wire
