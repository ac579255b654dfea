// SPDX-License-Identifier: BSD-2-Clause
//
// Which dones make which response: the commands to memory that have no done
// yet, in order, and of each whether it is its burst's last. A burst that has
// written nothing waits here for those before it, no longer.

`default_nettype none

module axi4_write_order
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned IdWidth     = 4,
  parameter int unsigned Outstanding = 16  // a power of two
) (
  input  wire logic               clk_i,
  input  wire logic               rst_ni,
  input  wire logic               command_valid_i,
  output logic                    command_ready_o,
  input  wire logic               wrote_i,  // a command has gone to memory: a done will come
  input  wire logic               final_i,  // of its burst
  input  wire logic [IdWidth-1:0] id_i,
  output logic      [15:0]        tag_o,    // for the command
  input  wire logic               done_valid_i,
  input  wire memory_done_t       done_i,
  output logic      [IdWidth-1:0] bid_o,
  output logic                    bvalid_o,
  input  wire logic               bready_i
);

  localparam int unsigned IndexBits = $clog2(Outstanding);

  typedef logic [IndexBits:0] count_t;

  typedef struct packed {
    logic               wrote;
    logic               is_final;
    logic [IdWidth-1:0] id;
  } entry_t;

  entry_t      entries_q[Outstanding];
  count_t      in_q, out_q;
  count_t      done_q;      // dones that no entry has used
  logic [15:0] done_tag_q;  // of the next done

  entry_t head;
  logic   due, leaves;

  assign command_ready_o = in_q - out_q != count_t'(Outstanding);
  assign head            = entries_q[out_q[IndexBits-1:0]];
  assign due             = in_q != out_q && (!head.wrote || done_q != '0);
  assign leaves          = due && (!head.is_final || !bvalid_o || bready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_q       <= '0;
      out_q      <= '0;
      done_q     <= '0;
      tag_o      <= '0;
      done_tag_q <= '0;
      bvalid_o   <= 1'b0;
    end else begin
      if (command_valid_i) begin
        entries_q[in_q[IndexBits-1:0]] <= '{wrote: wrote_i, is_final: final_i, id: id_i};
        in_q                           <= in_q + count_t'(1);
        tag_o                          <= tag_o + 16'(wrote_i);
      end
      if (leaves) out_q <= out_q + count_t'(1);
      done_q     <= done_q + count_t'(done_valid_i) - count_t'(leaves && head.wrote);
      done_tag_q <= done_tag_q + 16'(done_valid_i);
      if (bready_i) bvalid_o <= 1'b0;
      if (leaves && head.is_final) begin
        bvalid_o <= 1'b1;
        bid_o    <= head.id;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && done_valid_i) begin
      DoneInOrder :
      assert (done_i.tag == done_tag_q)
      else $fatal(1, "axi: a done of tag %0d, where %0d is next", done_i.tag, done_tag_q);
    end
  end

endmodule

`default_nettype wire
