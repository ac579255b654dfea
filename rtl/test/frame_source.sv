// SPDX-License-Identifier: BSD-2-Clause
//
// Bench driver: plays the frames of a file into an AXI4-Stream with random
// gaps. A line is: sideband (decimal), tuser (0 or 1), byte count, the bytes
// in hexadecimal. The file is named by plusarg +<Plusarg>=; without it nothing
// is played. +gap= is the chance, in percent, of an idle cycle; +frame_gap= the
// number of idle cycles in front of each frame. Lanes that are not kept carry
// noise or what the beat before had there; the sideband behind the first beat
// carries noise.

`default_nettype none

module frame_source #(
  parameter int unsigned DataWidth = 64,
  parameter string       Plusarg = "frames"
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  output      logic [DataWidth-1:0]   tdata_o,
  output      logic [DataWidth/8-1:0] tkeep_o,
  output      logic                   tvalid_o,
  output      logic                   tlast_o,
  output      logic                   tuser_o,
  output      logic [13:0]            sideband_o,
  input  wire logic                   tready_i
);

  localparam int Lanes = DataWidth / 8;
  localparam int MaxBytes = 1 << 16;

  int          file = 0;
  int          gap_percent = 0;
  int          frame_gap = 0, wait_cycles;
  int          length = 0, position = 0;
  logic [13:0] sideband;
  logic        user;
  logic [7:0]  frame [MaxBytes];

  initial begin
    string path;
    if ($value$plusargs({Plusarg, "=%s"}, path)) begin
      file = $fopen(path, "r");
      if (file == 0) $fatal(1, "%s: cannot open %s", Plusarg, path);
    end
    if (!$value$plusargs("gap=%d", gap_percent)) gap_percent = 0;
    if (!$value$plusargs("frame_gap=%d", frame_gap)) frame_gap = 0;
  end

  task automatic load_frame();
    position    = 0;
    length      = 0;
    wait_cycles = frame_gap;
    if ($fscanf(file, "%d %d %d", sideband, user, length) != 3) begin
      $fclose(file);
      file   = 0;
      length = 0;
    end
    for (int i = 0; i < length; i++) begin
      if ($fscanf(file, "%h", frame[i]) != 1) $fatal(1, "%s: a line is too short", Plusarg);
    end
  endtask

  task automatic offer_beat();
    int                   kept = length - position < Lanes ? length - position : Lanes;
    logic [DataWidth-1:0] data = $urandom % 2 == 0 ? tdata_o : {DataWidth/32{$urandom}};
    for (int lane = 0; lane < kept; lane++) data[8*lane+:8] = frame[position+lane];
    tvalid_o   <= 1'b1;
    tdata_o    <= data;
    tkeep_o    <= {Lanes{1'b1}} >> (Lanes - kept);
    tlast_o    <= position + Lanes >= length;
    tuser_o    <= user && position + Lanes >= length;
    sideband_o <= position == 0 ? sideband : 14'($urandom);
    position = position + kept;
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      tvalid_o    <= 1'b0;
      wait_cycles = 0;
    end else if (!tvalid_o || tready_i) begin
      tvalid_o <= 1'b0;
      if (position >= length && file != 0) load_frame();
      if (wait_cycles != 0) wait_cycles = wait_cycles - 1;
      else if (position < length && int'($urandom % 100) >= gap_percent) offer_beat();
    end
  end

endmodule

`default_nettype wire
