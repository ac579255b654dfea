// SPDX-License-Identifier: BSD-2-Clause
//
// Bench monitor: takes frames from an AXI4-Stream under random back-pressure
// and compares them, in order, with a file (a line is a byte count and the
// bytes in hexadecimal) named by plusarg +<Plusarg>=. Stream rules are checked
// too: an offer stays until taken, and tkeep is whole but on the last beat.
// +stall= is the chance, in percent, of not being ready, +<Plusarg>_stall= the
// same for this sink only. done_o says that every frame of the file has come;
// with +no_idle_output the output must not pause after the first frame.

`default_nettype none

module frame_sink #(
  parameter int unsigned DataWidth = 64,
  parameter string       Plusarg = "expect"
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [DataWidth-1:0]   tdata_i,
  input  wire logic [DataWidth/8-1:0] tkeep_i,
  input  wire logic                   tvalid_i,
  input  wire logic                   tlast_i,
  output      logic                   tready_o,
  output      logic                   done_o,
  output      int                     errors_o
);

  localparam int Lanes = DataWidth / 8;
  localparam int MaxBytes = 1 << 16;

  int         file = 0;
  int         stall_percent = 0;
  int         frames = 0, length = 0, position = 0;
  logic       no_idle_output;
  logic [7:0] want [MaxBytes];

  logic                 offered_q;
  logic [DataWidth-1:0] tdata_q;
  logic [Lanes-1:0]     tkeep_q;
  logic                 tlast_q;

  initial begin
    string path;
    int    own_stall_percent;
    errors_o = 0;
    done_o   = 1'b1;
    if ($value$plusargs({Plusarg, "=%s"}, path)) begin
      file = $fopen(path, "r");
      if (file == 0) $fatal(1, "%s: cannot open %s", Plusarg, path);
      load_frame();
    end
    if (!$value$plusargs("stall=%d", stall_percent)) stall_percent = 0;
    if ($value$plusargs({Plusarg, "_stall=%d"}, own_stall_percent)) begin
      stall_percent = own_stall_percent;
    end
    no_idle_output = $test$plusargs("no_idle_output") != 0;
  end

  task automatic load_frame();
    position = 0;
    done_o   = $fscanf(file, "%d", length) != 1;
    if (done_o) length = 0;
    for (int i = 0; i < length; i++) begin
      if ($fscanf(file, "%h", want[i]) != 1) $fatal(1, "%s: a line is too short", Plusarg);
    end
  endtask

  task automatic complain(string text, int expected, int got);
    errors_o = errors_o + 1;
    $display("FAIL: %s at %0d bits, frame %0d, byte %0d: %s: expected %0x got %0x",
             Plusarg, DataWidth, frames, position, text, expected, got);
  endtask

  task automatic take_beat();
    int kept = $countones(tkeep_i);
    if (done_o) complain("a frame that nobody expected", 0, 1);
    if (!tlast_i && tkeep_i != '1) complain("null lanes before the last beat", 0, 1);
    if ((tkeep_i & (tkeep_i + 1'b1)) != '0) complain("tkeep is not contiguous", 0, 1);
    for (int lane = 0; lane < kept; lane++) begin
      if (position < length && want[position] != tdata_i[8*lane+:8]) begin
        complain("value", int'(want[position]), int'(tdata_i[8*lane+:8]));
      end
      position = position + 1;
    end
    if (tlast_i) begin
      if (position != length) complain("length", length, position);
      frames = frames + 1;
      if (!done_o) load_frame();
    end
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      tready_o  <= 1'b0;
      offered_q <= 1'b0;
    end else begin
      tready_o <= int'($urandom % 100) >= stall_percent;

      if (offered_q && !(tvalid_i && tdata_i == tdata_q && tkeep_i == tkeep_q
                         && tlast_i == tlast_q)) begin
        complain("an offered beat changed before it was taken", 0, 1);
      end
      offered_q <= tvalid_i && !tready_o;
      tdata_q   <= tdata_i;
      tkeep_q   <= tkeep_i;
      tlast_q   <= tlast_i;

      if (no_idle_output && !tvalid_i && !done_o && frames != 0) begin
        complain("the output paused", 0, 1);
      end
      if (tvalid_i && tready_o) take_beat();
    end
  end

endmodule

`default_nettype wire
