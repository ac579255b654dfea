// SPDX-License-Identifier: BSD-2-Clause
//
// The ACK tracker alone: with 2^23 PSNs outstanding, across the wrap, no
// further message may start; one PSN acknowledged makes room for one more.
// Prints PASS or the step that failed.

`default_nettype none

module psn_window_tb
  import roceproof_dut_pkg::*;
  import roce_pkg::*;
  import roce_tx_pkg::*;
;

  localparam logic [23:0] FirstPsn = 24'hff_fff0;
  localparam logic [31:0] Qpn      = 32'h15;
  localparam logic [31:0] Peer     = 32'hc0a8_0102;
  localparam int unsigned Patience = 200;  // cycles, many times what any operation takes

  logic           clk;
  logic           rst_n;

  typedef enum logic [1:0] {Configure, Start, Departed, Response} request_e;

  logic [3:0]     valid;
  logic [3:0]     ready;
  qp_config_t     qp;
  logic           start_refused;
  message_start_t start;
  departure_t     departed;
  response_t      response;

  ack_tracker u_dut (
    .clk_i             (clk),
    .rst_ni            (rst_n),
    .configure_valid_i (valid[Configure]),
    .configure_ready_o (ready[Configure]),
    .config_i          (qp),
    .configure_o       (),
    .start_valid_i     (valid[Start]),
    .start_ready_o     (ready[Start]),
    .start_i           (start),
    .start_refused_o   (start_refused),
    .start_generation_o(),
    .departed_valid_i  (valid[Departed]),
    .departed_ready_o  (ready[Departed]),
    .departed_i        (departed),
    .departure_owed_i  (1'b0),
    .departures_i      ('0),
    .departure_popped_i(1'b0),
    .landed_i          (1'b1),
    .response_valid_i  (valid[Response]),
    .response_ready_o  (ready[Response]),
    .response_i        (response),
    .fault_i           ('0),
    .flushes_o         (),
    .failed_o          (),
    .failed_index_o    (),
    .oldest_valid_o    (),
    .oldest_o          (),
    .held_valid_o      (),
    .held_o            (),
    .admits_o          (),
    .index_o           (),
    .paced_i           ('1),
    .issued_i          (1'b0),
    .issued_index_i    ('0),
    .issued_slot_i     ('0),
    .issued_more_i     ('0),
    .issued_psn_i      ('0),
    .copy_o            (),
    .copied_o          (),
    .copy_waits_i      (1'b0),
    .completion_valid_o(),
    .completion_ready_i(1'b1),
    .completion_o      ()
  );

  initial begin
    clk = 1'b0;
    forever #5 clk = !clk;
  end

  initial begin
    rst_n = 1'b0;
    repeat (4) @(posedge clk);
    rst_n = 1'b1;
  end

  // What is asked for, a start by its distance from the first PSN, and whether
  // it must be taken.
  typedef struct packed {
    request_e    request;
    logic [23:0] reach;
    logic        taken;
  } step_t;

  localparam int unsigned Steps = 7;
  localparam step_t [Steps-1:0] Plan = {
    {Configure, 24'h00_0000, 1'b1},
    {Start,     24'h7f_ffff, 1'b1},  // 2^23 packets may be outstanding
    {Start,     24'h80_0000, 1'b0},  // and nothing more
    {Departed,  24'h00_0000, 1'b1},
    {Response,  24'h00_0000, 1'b1},  // the first packet is acknowledged:
    {Start,     24'h80_0000, 1'b1},  // room for one more
    {Start,     24'h80_0001, 1'b0}   // and only for one
  };

  logic [2:0]  step_q;  // counts down
  int unsigned waited_q;
  step_t       step;

  assign step = Plan[step_q];

  always_comb begin
    qp                      = '0;
    qp.command              = QpActivate;
    qp.service              = ServiceRc;
    qp.local_qpn            = Qpn;
    qp.sq_psn               = FirstPsn;
    qp.remote_gid           = {80'd0, 16'hffff, Peer};
    start                   = '0;
    start.qpn               = Qpn;
    start.last_psn          = FirstPsn + step.reach;
    departed                = '0;
    departed.tracked        = 1'b1;
    departed.generation     = generation_t'(1);
    departed.psn            = FirstPsn;
    departed.completion.qpn = Qpn;
    response                = '0;
    response.dest_qpn       = Qpn[23:0];
    response.psn            = FirstPsn;
    response.syndrome       = 8'h1f;
    response.src_gid        = 128'(Peer);
  end

  always_ff @(posedge clk) begin
    valid <= '0;
    if (!rst_n) begin
      step_q <= 3'(Steps - 1);
    end else if (valid == '0) begin
      valid[step.request] <= 1'b1;
      waited_q            <= 0;
    end else if (ready[step.request] || waited_q == Patience) begin
      if (ready[step.request] != step.taken || start_refused) begin
        $display("FAIL: step %0d", Steps - 32'(step_q));
        $finish;
      end else if (step_q == '0) begin
        $display("PASS");
        $finish;
      end
      step_q <= step_q - 1'b1;
    end else begin
      valid    <= valid;
      waited_q <= waited_q + 1;
    end
  end

endmodule

`default_nettype wire
