// SPDX-License-Identifier: BSD-2-Clause
//
// The helpers that speak for a core: what the ARP client is told, and which
// completions follow which answers, the wrap of PSNs included. Prints PASS, or
// the step that failed.

`default_nettype none

module endpoint_helpers_tb
  import roceproof_dut_pkg::*;
;

  localparam logic [31:0] Qpn = 32'h15;

  logic        clk;
  logic        rst_n = 1'b0;

  logic        learn = 1'b0, ask = 1'b0, asked, told, unknown;
  logic [31:0] learn_ip, ask_ip;
  logic [47:0] learn_mac, told_mac;

  logic        start = 1'b0, started, sent = 1'b0, sent_taken, hear = 1'b0, heard, failed;
  logic [23:0] start_psn, last_psn, psn;
  logic [63:0] wr_id;
  logic [7:0]  syndrome;
  logic        completes;
  completion_t completion;

  initial begin
    clk = 1'b0;
    forever #5 clk = !clk;
  end

  arp_client_stub #(.Entries(2)) u_arp (
    .clk_i(clk), .rst_ni(rst_n),
    .learn_valid_i(learn), .learn_ip_i(learn_ip), .learn_mac_i(learn_mac),
    .request_valid_i(ask), .request_ip_i(ask_ip), .request_ready_o(asked),
    .response_valid_o(told), .response_error_o(unknown), .response_mac_o(told_mac),
    .response_ready_i(1'b1));

  rc_completion_tracker #(.Depth(4)) u_tracker (
    .clk_i(clk), .rst_ni(rst_n),
    .start_valid_i(start), .start_ready_o(started), .start_qpn_i(Qpn), .start_psn_i(start_psn),
    .sent_valid_i(sent), .sent_ready_o(sent_taken), .sent_wr_id_i(wr_id),
    .sent_last_psn_i(last_psn),
    .response_valid_i(hear), .response_ready_o(heard), .response_psn_i(psn),
    .response_syndrome_i(syndrome),
    .failed_o(failed), .cpl_valid_o(completes), .cpl_ready_i(1'b1), .cpl_o(completion));

  // Everything is driven at falling edges; #1 behind one, what is ready has settled.
  task automatic learn_peer(input logic [31:0] ip, input logic [47:0] mac);
    learn     = 1'b1;
    learn_ip  = ip;
    learn_mac = mac;
    @(negedge clk);
    learn = 1'b0;
  endtask

  task automatic want_peer(input string step, input logic [31:0] ip, input logic [47:0] mac);
    ask    = 1'b1;
    ask_ip = ip;
    #1;
    if (!asked) $fatal(1, "FAIL: %s: it takes no question", step);
    @(negedge clk);
    ask = 1'b0;
    if (!told || unknown != (mac == '0) || (!unknown && told_mac != mac)) begin
      $fatal(1, "FAIL: %s", step);
    end
  endtask

  task automatic restart(input logic [23:0] first);
    start     = 1'b1;
    start_psn = first;
    #1;
    while (!started) begin
      @(negedge clk);
      #1;
    end
    @(negedge clk);
    start = 1'b0;
  endtask

  task automatic send_message(input logic [63:0] id, input logic [23:0] last);
    sent     = 1'b1;
    wr_id    = id;
    last_psn = last;
    #1;
    while (!sent_taken) begin
      @(negedge clk);
      #1;
    end
    @(negedge clk);
    sent = 1'b0;
  endtask

  task automatic answer(input logic [23:0] at, input logic [7:0] with_syndrome);
    hear     = 1'b1;
    psn      = at;
    syndrome = with_syndrome;
    #1;
    while (!heard) begin
      @(negedge clk);
      #1;
    end
    @(negedge clk);
    hear = 1'b0;
  endtask

  task automatic want(input string step, input logic [63:0] id, input status_e status,
                      input logic [7:0] of_syndrome);
    completion_t wanted;
    wanted = '{wr_id: id, qpn: Qpn, status: status, syndrome: of_syndrome, reserved0: '0};
    #1;
    for (int cycle = 0; !completes && cycle < 20; cycle++) @(negedge clk);
    if (!completes || completion != wanted) begin
      $fatal(1, "FAIL: %s: valid %b %p", step, completes, completion);
    end
    @(negedge clk);
  endtask

  task automatic want_none(input string step);
    repeat (20) begin
      if (completes) $fatal(1, "FAIL: %s: %p", step, completion);
      @(negedge clk);
    end
  endtask

  initial begin
    repeat (4) @(negedge clk);
    rst_n = 1'b1;
    @(negedge clk);

    learn_peer(32'hC0A8_0101, 48'h02_00_00_00_00_01);
    learn_peer(32'hC0A8_0102, 48'h02_00_00_00_00_02);
    want_peer("a peer", 32'hC0A8_0101, 48'h02_00_00_00_00_01);
    want_peer("a stranger", 32'hC0A8_0103, '0);
    learn_peer(32'hC0A8_0102, 48'h02_00_00_00_00_22);
    want_peer("a peer with another MAC", 32'hC0A8_0102, 48'h02_00_00_00_00_22);
    learn_peer(32'hC0A8_0103, 48'h02_00_00_00_00_03);
    want_peer("the newest of three", 32'hC0A8_0103, 48'h02_00_00_00_00_03);
    want_peer("the oldest of three", 32'hC0A8_0101, '0);

    restart(24'hFF_FFFE);
    send_message(1, 24'hFF_FFFE);
    send_message(2, 24'h00_0003);  // across the wrap
    send_message(3, 24'h00_0004);
    answer(24'h00_0005, 8'h1F);
    want_none("an ACK of what was not sent");
    answer(24'hFF_FFFD, 8'h1F);
    want_none("an ACK from before the start");
    answer(24'h00_0001, 8'h1F);
    want("an ACK within the second message", 1, StatusSuccess, 8'h1F);
    answer(24'hFF_FFFF, 8'h60);
    want_none("a NAK of what is acknowledged");
    answer(24'h00_0003, 8'h68);
    want_none("a NAK with a reserved code");
    answer(24'h00_0003, 8'h9F);
    want_none("an answer with a reserved bit");
    answer(24'h00_0004, 8'h05);
    want("an ACK of two, the first", 2, StatusSuccess, 8'h05);
    want("an ACK of two, the second", 3, StatusSuccess, 8'h05);
    answer(24'h00_0004, 8'h05);
    want_none("the same ACK again");

    send_message(4, 24'h00_0005);
    send_message(5, 24'h00_0008);
    send_message(6, 24'h00_0009);
    answer(24'h00_0007, 8'h62);
    want("a NAK acknowledges what is before it", 4, StatusSuccess, 8'h62);
    want("a NAK fails its own message", 5, StatusRemAccessErr, 8'h62);
    want("what is behind is flushed", 6, StatusWrFlushErr, 8'hFF);
    if (!failed) $fatal(1, "FAIL: it does not say that it failed");
    send_message(7, 24'h00_000A);
    want("what comes later is flushed", 7, StatusWrFlushErr, 8'hFF);

    restart(24'h12_3456);
    if (failed) $fatal(1, "FAIL: it failed from the start");
    send_message(8, 24'h12_3456);
    answer(24'h12_3456, 8'h2E);
    want("an RNR NAK", 8, StatusRnrRetryExc, 8'h2E);
    restart(24'h00_0000);
    send_message(9, 24'h00_0000);
    send_message(10, 24'h00_0001);
    start     = 1'b1;
    start_psn = 24'h00_0100;
    want("a restart flushes, the first", 9, StatusWrFlushErr, 8'hFF);
    want("a restart flushes, the second", 10, StatusWrFlushErr, 8'hFF);
    if (!started) $fatal(1, "FAIL: it does not restart");
    @(negedge clk);
    start = 1'b0;
    send_message(11, 24'h00_0100);
    answer(24'h00_0100, 8'h00);
    want("a message of the new life", 11, StatusSuccess, 8'h00);
    want_none("the end");
    $display("PASS");
    $finish;
  end

endmodule

`default_nettype wire
