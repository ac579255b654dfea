// SPDX-License-Identifier: BSD-2-Clause
//
// The sending half of the test device's MAC: whole frames from a stream, out
// as XGMII, one held behind the one that leaves. While hold_i is high no frame
// begins. +mac_fault= names what it does wrong. Written for tests only.

`default_nettype none

module xgmii_mac_tx (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic        hold_i,
  input  wire logic [63:0] tdata_i,
  input  wire logic [7:0]  tkeep_i,
  input  wire logic        tvalid_i,
  input  wire logic        tlast_i,
  output logic             tready_o,
  output logic      [63:0] txd_o,
  output logic      [7:0]  txc_o,
  output int               taken_o,  // frames from the stream
  output int               left_o    // and to the wire
);

  string      fault;
  logic [8:0] line[$];
  logic [7:0] frame[$];
  logic       whole_q;    // the frame has ended
  int         gap_q, deficit_q, sent_q;

  initial if ($value$plusargs("mac_fault=%s", fault) == 0) fault = "";

  function automatic logic [31:0] crc_of(input logic [31:0] so_far, input logic [7:0] data);
    automatic logic [31:0] crc = so_far;
    for (int i = 0; i < 8; i++) begin
      crc = {1'b0, crc[31:1]} ^ ((crc[0] ^ data[i]) ? 32'hEDB88320 : 32'd0);
    end
    return crc;
  endfunction

  // At the next place for a start, unless that would leave gaps behind 12 on average.
  task automatic put_gap();
    automatic int idles = fault == "gap" ? 0 : gap_q < 12 ? 12 - gap_q : 0;
    automatic int over = (line.size() + idles) % 4;
    if (over != 0 && idles >= over && (deficit_q + over <= 3 || fault == "rounding")) idles -= over;
    else if (over != 0) idles += 4 - over;
    if (fault == "lane" && sent_q == 2) idles += 2;
    repeat (idles) line.push_back(9'h107);
    deficit_q += 12 - gap_q - idles;
    if (deficit_q < 0 || gap_q >= 24) deficit_q = 0;
    if (fault == "data" && sent_q == 2) line[line.size()-1] = 9'h000;
    if (fault == "ordered" && sent_q == 2) line[line.size()-1] = 9'h19C;
  endtask

  task automatic put_frame();
    automatic logic [31:0] crc = '1;
    put_gap();
    line.push_back(9'h1FB);
    repeat (fault == "preamble" ? 5 : 6) line.push_back(9'h055);
    line.push_back(fault == "delimiter" ? 9'h055 : 9'h0D5);
    for (int i = 0; i < frame.size() && !(fault == "runt" && i >= 40); i++) begin
      crc = crc_of(crc, frame[i]);
      line.push_back({1'b0, frame[i]});
    end
    repeat (fault == "long" ? 9300 : 0) line.push_back(9'h000);
    if (fault == "control") line[line.size()-20] = 9'h19C;
    if (fault == "error") line[line.size()-20] = 9'h1FE;
    if (fault == "fcs") crc ^= 32'h0001_0000;
    for (int i = 0; i < 4; i++) line.push_back({1'b0, ~crc[8*i+:8]});
    if (fault != "endless") line.push_back(9'h1FD);
    gap_q   = 1;
    whole_q = 1'b0;
    sent_q++;
    frame.delete();
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      whole_q   = 1'b0;
      gap_q     = 24;
      deficit_q = 0;
      sent_q    = 0;
      taken_o   <= 0;
      left_o    <= 0;
      line.delete();
      frame.delete();
      {txc_o, txd_o} <= {8'hFF, {8{8'h07}}};
      tready_o       <= 1'b0;
    end else begin
      if (tvalid_i && tready_o && tlast_i) taken_o <= taken_o + 1;
      if (line.size() < 8 && whole_q && !hold_i) put_frame();
      if (tvalid_i && tready_o) begin
        for (int lane = 0; lane < 8; lane++) begin
          if (tkeep_i[lane]) frame.push_back(tdata_i[8*lane+:8]);
        end
        whole_q = tlast_i;
      end
      for (int lane = 0; lane < 8; lane++) begin
        automatic logic [8:0] next = 9'h107;
        if (line.size() != 0) next = line.pop_front();
        else if (gap_q < 24) gap_q++;
        if (next == 9'h1FD) left_o <= left_o + 1;
        {txc_o[lane], txd_o[8*lane+:8]} <= next;
      end
      tready_o <= !whole_q;
    end
  end

endmodule

`default_nettype wire
