// SPDX-License-Identifier: BSD-2-Clause
//
// Frames into the DUT as XGMII: with preamble and FCS, from lane 0 or 4. Gaps
// are as short as deficit idle count allows while frames wait. A frame that is
// to be discarded has, by turns, one wrong bit, in its FCS or in what a receiver's
// CRC leaves of it, or an error character; for who sees only the eight bits of
// that character, it is a right frame. A frame leaves when all of it has come.

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

  localparam int SourceAddress = 6;
  localparam int AddressBytes  = 6;

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

  // Puts the eight bits of an error character into the frame, and says where: in the source
  // address, in a trailer behind the packet, or in the FCS.
  function automatic int spoil();
    automatic int          trailer = 1 + int'(draw_q[2:0]);
    automatic int          byte_no = int'(draw_q[4:3]);
    automatic logic [31:0] crc     = CrcStart;
    if (draw_q[6:5] == 2'd0) begin
      spoil        = SourceAddress + int'(draw_q[9:7]) % AddressBytes;
      frame[spoil] = Error[7:0];
    end else if (draw_q[6:5] == 2'd1) begin
      foreach (frame[i]) crc = crc_of(crc, frame[i]);
      for (int last = 0; last < 256; last++) begin
        automatic logic [31:0] fcs = ~crc_of(crc, 8'(last));
        if (fcs[8*byte_no+:8] == Error[7:0]) begin
          frame.push_back(8'(last));
          break;
        end
      end
      spoil = frame.size() + byte_no;
    end else begin
      repeat (trailer) frame.push_back(Error[7:0]);
      spoil = frame.size() - 1 - byte_no % trailer;
    end
  endfunction

  task automatic put_frame(input logic is_bad);
    automatic logic [31:0] crc   = CrcStart;
    automatic logic [31:0] wrong = 32'd1 << draw_q[4:0];
    automatic int          error = -1;
    if (is_bad && spoils_q) error = spoil();  // in a conditional it would be called always
    put_gap();
    line.push_back(Start);
    repeat (PreambleBytes) line.push_back(Preamble);
    line.push_back(Delimiter);
    foreach (frame[i]) crc = crc_of(crc, frame[i]);
    crc = ~crc;
    if (is_bad && !spoils_q) crc ^= draw_q[5] ? wrong_for(wrong) : wrong;
    for (int i = 0; i < FcsBytes; i++) frame.push_back(crc[8*i+:8]);
    foreach (frame[i]) line.push_back(i == error ? Error : {1'b0, frame[i]});
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
