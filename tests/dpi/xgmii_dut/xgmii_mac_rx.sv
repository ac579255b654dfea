// SPDX-License-Identifier: BSD-2-Clause
//
// The receiving half of the test device's MAC: frames from XGMII to a stream
// that is never in the way. A frame whose FCS is wrong, or that has an error
// character, is dropped; a priority pause of class 0 holds the sending half.
// It counts what it hears, and ends the simulation where the bench's own side
// is not as 802.3 has it. +mac_fault= names what it does wrong.

`default_nettype none

module xgmii_mac_rx (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [63:0] rxd_i,
  input  wire logic [7:0]  rxc_i,
  output logic             hold_o,
  output logic      [63:0] tdata_o,
  output logic      [7:0]  tkeep_o,
  output logic             tvalid_o,
  output logic             tlast_o,
  input  wire logic        tready_i
);

  localparam int QuantumCycles = 8;  // 512 bits

  string       fault;
  logic [7:0]  frame[$];   // with what comes before it
  logic        amid_q, is_bad_q;
  logic [72:0] beats[$];
  int          gap_q, sum_q, frames_q;      // gaps between frames that follow each other closely
  int          lane_0_q, lane_4_q, wrong_fcs_q, errors_q, shortest_q;
  int          pause_q;

  initial if ($value$plusargs("mac_fault=%s", fault) == 0) fault = "";

  function automatic logic [31:0] fcs_of(input int first, input int stop);
    automatic logic [31:0] crc = '1;
    for (int at = first; at < stop; at++) begin
      for (int i = 0; i < 8; i++) begin
        crc = {1'b0, crc[31:1]} ^ ((crc[0] ^ frame[at][i]) ? 32'hEDB88320 : 32'd0);
      end
    end
    return ~crc;
  endfunction

  task automatic begin_frame(input int lane);
    if (lane == 0) lane_0_q++;
    else if (lane == 4) lane_4_q++;
    else $fatal(1, "bench: a frame starts in lane %0d", lane);
    if (gap_q < 24) begin
      if (gap_q < 9) $fatal(1, "bench: a gap of %0d", gap_q);
      if (gap_q < shortest_q) shortest_q = gap_q;
      sum_q    += gap_q;
      frames_q++;
      if (sum_q < 12 * frames_q - 3) $fatal(1, "bench: gaps are below 12 on average");
    end else begin
      sum_q    = 0;
      frames_q = 0;
    end
    amid_q   = 1'b1;
    is_bad_q = 1'b0;
    frame.delete();
  endtask

  task automatic end_frame();
    automatic int          stop = frame.size() - 4;
    automatic logic [31:0] fcs = {frame[stop+3], frame[stop+2], frame[stop+1], frame[stop]};
    for (int i = 0; i < 7; i++) begin
      if (frame[i] != (i < 6 ? 8'h55 : 8'hD5)) $fatal(1, "bench: preamble");
    end
    if (stop < 67) $fatal(1, "bench: a frame of %0d bytes", stop - 7);
    amid_q = 1'b0;
    gap_q  = 1;
    if (is_bad_q) errors_q++;
    else if (fcs != fcs_of(7, stop)) wrong_fcs_q++;
    if ((is_bad_q || fcs != fcs_of(7, stop)) && fault != "credulous") return;
    if ({frame[7], frame[8], frame[9], frame[10], frame[11], frame[12]} == 48'h0180_C200_0001
        && {frame[19], frame[20], frame[21], frame[22]} == 32'h8808_0101) begin
      if (frame[24][0]) pause_q = int'({frame[25], frame[26]}) * QuantumCycles;
    end else begin
      for (int at = 7; at < stop; at += 8) begin
        automatic logic [63:0] data = '0;
        automatic logic [7:0]  keep = '0;
        for (int lane = 0; lane < 8 && at + lane < stop; lane++) begin
          data[8*lane+:8] = frame[at+lane];
          keep[lane]      = 1'b1;
        end
        beats.push_back({at + 8 >= stop, keep, data});
      end
    end
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      {amid_q, is_bad_q} = '0;
      gap_q      = 24;
      shortest_q = 24;
      pause_q    = 0;
      {sum_q, frames_q, lane_0_q, lane_4_q, wrong_fcs_q, errors_q} = '0;
      tvalid_o <= 1'b0;
      hold_o   <= 1'b0;
    end else begin
      if (pause_q != 0) pause_q--;
      for (int lane = 0; lane < 8; lane++) begin
        automatic logic [7:0] heard = rxd_i[8*lane+:8];
        if (!rxc_i[lane] && amid_q) frame.push_back(heard);
        else if (!rxc_i[lane]) $fatal(1, "bench: data between frames");
        else if (heard == 8'hFB && !amid_q) begin_frame(lane);
        else if (heard == 8'hFD && amid_q) end_frame();
        else if (heard == 8'hFE && amid_q) begin
          is_bad_q = 1'b1;
          frame.push_back(heard);
        end else if (heard == 8'h07 && !amid_q) begin
          if (gap_q < 24) gap_q++;
        end else $fatal(1, "bench: character %h", heard);
      end
      hold_o <= pause_q != 0 && fault != "deaf";
      if (!tvalid_o || tready_i) begin
        tvalid_o <= beats.size() != 0;
        if (beats.size() != 0) begin
          automatic logic [72:0] beat = beats.pop_front();
          {tlast_o, tkeep_o, tdata_o} <= beat;
        end
      end
    end
  end

  final begin
    $display("heard: %0d in lane 0, %0d in lane 4, %0d wrong FCS, %0d errors, shortest gap %0d",
             lane_0_q, lane_4_q, wrong_fcs_q, errors_q, shortest_q);
  end

endmodule

`default_nettype wire
