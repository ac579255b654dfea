// SPDX-License-Identifier: BSD-2-Clause
//
// Frames into the DUT as XGMII: with preamble and FCS, from lane 0 or 4. Gaps
// are as short as deficit idle count allows while frames wait. A frame that is
// to be discarded has a wrong FCS or an error character, by turns. A frame
// leaves when all of it has come.

`default_nettype none

module roceproof_xgmii_source
  import roceproof_xgmii_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [63:0] seed_i,
  input  wire logic [63:0] tdata_i,
  input  wire logic [7:0]  tkeep_i,
  input  wire logic        tvalid_i,
  input  wire logic        tlast_i,
  input  wire logic        tuser_i,
  output logic             tready_o,
  output logic      [63:0] rxd_o,
  output logic      [7:0]  rxc_o
);

  lane_t       line[$];     // what is yet to leave, lane 0 first
  logic [7:0]  frame[$];    // what has come of the next
  int          gap_q;       // behind the last frame, on the line or before it
  int          deficit_q;
  int          waiting_q;   // frames on the line
  logic        spoils_q;    // the next bad frame has an error character
  logic [63:0] draw_q;

  task automatic put_gap();
    automatic int least = Gap - MostDeficit + deficit_q;
    automatic int idles = gap_q < least ? least - gap_q : 0;
    while ((line.size() + idles) % (Lanes / 2) != 0) idles++;
    if (line.size() == 0 && draw_q[0]) idles += Lanes / 2;
    repeat (idles) line.push_back(Idle);
    gap_q     += idles;
    deficit_q = deficit_after(deficit_q, gap_q);
  endtask

  task automatic put_frame(input logic is_bad);
    automatic logic [31:0] crc = CrcStart;
    put_gap();
    line.push_back(Start);
    repeat (PreambleBytes) line.push_back(Preamble);
    line.push_back(Delimiter);
    for (int i = 0; i < frame.size(); i++) begin
      crc = crc_of(crc, frame[i]);
      line.push_back(is_bad && spoils_q && i == frame.size() / 2 ? Error : {1'b0, frame[i]});
    end
    if (!is_bad || spoils_q) crc = ~crc;
    for (int i = 0; i < FcsBytes; i++) line.push_back({1'b0, crc[8*i+:8]});
    line.push_back(Terminate);
    gap_q = 1;
    if (is_bad) spoils_q = !spoils_q;
    frame.delete();
    waiting_q++;
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      line.delete();
      frame.delete();
      gap_q     = Gap;
      deficit_q = 0;
      waiting_q = 0;
      spoils_q  = seed_i[1];
      draw_q    = seed_i;
      rxd_o    <= {Lanes{Idle[7:0]}};
      rxc_o    <= '1;
      tready_o <= 1'b0;
    end else begin
      draw_q = {draw_q[62:0], ~(draw_q[63] ^ draw_q[62] ^ draw_q[60] ^ draw_q[59])};
      if (tvalid_i && tready_o) begin
        for (int lane = 0; lane < Lanes; lane++) begin
          if (tkeep_i[lane]) frame.push_back(tdata_i[8*lane+:8]);
        end
        if (tlast_i) put_frame(tuser_i);
      end
      for (int lane = 0; lane < Lanes; lane++) begin
        automatic lane_t next = Idle;
        if (line.size() != 0) next = line.pop_front();
        else if (gap_q < 2 * Gap) gap_q++;
        if (next == Terminate) waiting_q--;
        {rxc_o[lane], rxd_o[8*lane+:8]} <= next;
      end
      tready_o <= waiting_q < 2;
    end
  end

endmodule

`default_nettype wire
