// SPDX-License-Identifier: BSD-2-Clause
//
// Frames out of the DUT as XGMII, which waits for nobody: beats are kept until
// they are taken, a frame's last for one cycle at least behind its end. A frame
// with an error character is marked to be discarded. What no MAC may send ends
// the simulation, and is named.

`default_nettype none

module roceproof_xgmii_sink
  import roceproof_xgmii_pkg::*;
#(
  parameter int Index = 0
) (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [63:0] txd_i,
  input  wire logic [7:0]  txc_i,
  output logic      [63:0] tdata_o,
  output logic      [7:0]  tkeep_o,
  output logic             tvalid_o,
  output logic             tlast_o,
  output logic             tuser_o,
  input  wire logic        tready_i
);

  typedef enum logic [1:0] { Between, InPreamble, InFrame } place_e;

  typedef struct packed {
    logic [63:0] data;
    logic [7:0]  keep;
    logic        last;
    logic        discard;
  } beat_t;

  place_e      place_q;
  int          gap_q;       // since the last frame; no frame yet: it does not matter
  int          deficit_q;
  int          count_q;     // bytes of the preamble, or of the frame
  logic        is_bad_q;    // an error character was among them
  logic [31:0] crc_q;
  logic [7:0]  bytes[$];    // that are in no beat yet: the FCS may be among them
  beat_t       beats[$];

  task automatic refuse(input string name, input string what);
    $fatal(1, "port %0d: xgmii %s: %s", Index, name, what);
  endtask

  task automatic hear_between(input lane_t heard, input int lane);
    if (heard == Start) begin
      if (lane % (Lanes / 2) != 0)
        refuse("start lane", $sformatf("a frame starts in lane %0d, not in 0 or 4", lane));
      deficit_q = deficit_after(deficit_q, gap_q);
      if (deficit_q > MostDeficit)
        refuse("gap", $sformatf("%0d bytes, and gaps are %0d behind %0d on average", gap_q,
                                deficit_q, Gap));
      place_q = InPreamble;
      count_q = 0;
    end else if (heard != Idle) begin
      if (heard[8]) refuse("control", $sformatf("character %h between frames", heard[7:0]));
      else refuse("control", $sformatf("data byte %h between frames", heard[7:0]));
    end else if (gap_q < 2 * Gap) begin
      gap_q++;
    end
  endtask

  task automatic hear_preamble(input lane_t heard);
    if (heard != (count_q == PreambleBytes ? Delimiter : Preamble))
      refuse("preamble", $sformatf("byte %0d behind the start is %h%s", count_q + 1, heard[7:0],
                                   heard[8] ? ", a control character" : ""));
    count_q++;
    if (heard == Delimiter) begin
      place_q  = InFrame;
      count_q  = 0;
      is_bad_q = 1'b0;
      crc_q    = CrcStart;
    end
  endtask

  task automatic hear_frame(input lane_t heard);
    if (heard == Terminate) begin
      finish();
    end else begin
      if (heard == Error) is_bad_q = 1'b1;
      else if (heard[8]) refuse("control", $sformatf("character %h in a frame", heard[7:0]));
      crc_q = crc_of(crc_q, heard[7:0]);
      bytes.push_back(heard[7:0]);
      count_q++;
      if (bytes.size() > Lanes + FcsBytes) put_beat(1'b0);
      if (count_q > LongestFrame)
        refuse("length", $sformatf("no end behind %0d bytes", LongestFrame));
    end
  endtask

  task automatic put_beat(input logic is_last);
    automatic int    stop = bytes.size() - FcsBytes < Lanes ? bytes.size() - FcsBytes : Lanes;
    automatic beat_t beat = '0;
    for (int lane = 0; lane < stop; lane++) begin
      beat.data[8*lane+:8] = bytes.pop_front();
      beat.keep[lane]      = 1'b1;
    end
    beat.last    = is_last;
    beat.discard = is_last && is_bad_q;
    beats.push_back(beat);
  endtask

  task automatic finish();
    if (!is_bad_q && count_q < ShortestFrame)
      refuse("runt", $sformatf("%0d bytes with FCS, at least %0d", count_q, ShortestFrame));
    if (!is_bad_q && crc_q != Residue)
      refuse("fcs", $sformatf("of a frame of %0d bytes is wrong", count_q));
    if (bytes.size() > FcsBytes) put_beat(1'b1);
    bytes.delete();
    place_q = Between;
    gap_q   = 1;
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      place_q   = Between;
      gap_q     = Gap;
      deficit_q = 0;
      bytes.delete();
      beats.delete();
      tvalid_o <= 1'b0;
    end else begin
      for (int lane = 0; lane < Lanes; lane++) begin
        automatic lane_t heard = {txc_i[lane], txd_i[8*lane+:8]};
        case (place_q)
          Between:    hear_between(heard, lane);
          InPreamble: hear_preamble(heard);
          default:    hear_frame(heard);
        endcase
      end
      if (!tvalid_o || tready_i) begin
        tvalid_o <= beats.size() != 0;
        if (beats.size() != 0) begin
          automatic beat_t beat = beats.pop_front();
          {tdata_o, tkeep_o, tlast_o, tuser_o} <= beat;
        end
      end
    end
  end

endmodule

`default_nettype wire
