// SPDX-License-Identifier: BSD-2-Clause
//
// Commands to memory as bursts of an AXI4 master, the other way round than
// axi4_memory: of up to 16 beats, none over 4 KiB. A command is done with the
// response of its last burst. Written for tests only.

`default_nettype none

module axi4_streams
  import roceproof_dut_pkg::*;
(
  input  wire logic            clk_i,
  input  wire logic            rst_ni,

  input  wire logic            mwc_valid_i,
  output logic                 mwc_ready_o,
  input  wire memory_command_t mwc_i,
  input  wire logic [63:0]     mwd_tdata_i,
  input  wire logic [7:0]      mwd_tkeep_i,
  input  wire logic            mwd_tvalid_i,
  output logic                 mwd_tready_o,
  output logic                 mdn_valid_o,
  output memory_done_t         mdn_o,
  input  wire logic            mrc_valid_i,
  output logic                 mrc_ready_o,
  input  wire memory_command_t mrc_i,
  output logic      [63:0]     mrd_tdata_o,
  output logic      [7:0]      mrd_tkeep_o,
  output logic                 mrd_tvalid_o,
  output logic                 mrd_tlast_o,
  input  wire logic            mrd_tready_i,

  output logic      [3:0]      awid_o,
  output logic      [63:0]     awaddr_o,
  output logic      [7:0]      awlen_o,
  output logic                 awvalid_o,
  input  wire logic            awready_i,
  output logic      [63:0]     wdata_o,
  output logic      [7:0]      wstrb_o,
  output logic                 wlast_o,
  output logic                 wvalid_o,
  input  wire logic            wready_i,
  input  wire logic            bvalid_i,
  output logic      [63:0]     araddr_o,
  output logic      [7:0]      arlen_o,
  output logic                 arvalid_o,
  input  wire logic            arready_i,
  input  wire logic [63:0]     rdata_i,
  input  wire logic            rvalid_i
);

  localparam int Lanes = 8;
  localparam int MostBeats = 16;

  typedef struct packed {
    logic [63:0] address;
    logic [7:0]  len;
  } burst_t;

  typedef struct packed {
    logic [63:0] data;
    logic [7:0]  strobes;
    logic        last;
  } write_beat_t;

  typedef struct packed {
    logic        last;  // of its command
    logic [15:0] tag;
  } response_t;

  typedef struct packed {
    logic [2:0]  lane;
    logic [3:0]  count;
  } read_beat_t;

  string           fault;
  memory_command_t writes[$];
  logic [7:0]      bytes[$], read_bytes[$];
  burst_t          write_bursts[$], read_bursts[$];
  write_beat_t     write_beats[$];
  response_t       responses[$];
  read_beat_t      read_beats[$];
  int              ends[$];  // bytes of commands to read that have not been given whole
  int              asked;

  initial if ($value$plusargs("axi_fault=%s", fault) == 0) fault = "";

  // The bytes of the burst that begins here, of so many.
  function automatic int burst_bytes(input logic [11:0] address, input int left);
    automatic int most = MostBeats * Lanes - int'(address[2:0]);
    automatic int page = 4096 - int'(address);
    if (page < most) most = page;
    return left < most ? left : most;
  endfunction

  task automatic put_write(input memory_command_t command);
    automatic logic [63:0] at = command.address;
    automatic int          left = int'(command.length);
    while (left != 0) begin
      automatic int burst = burst_bytes(at[11:0], left);
      automatic int beats = (int'(at[2:0]) + burst + Lanes - 1) / Lanes;
      left -= burst;
      write_bursts.push_back({at, 8'(beats - 1)});
      responses.push_back({left == 0, command.tag});
      for (int i = 0; i < beats; i++) begin
        automatic write_beat_t beat = '0;
        for (int lane = int'(at[2:0]); lane < Lanes && burst != 0; lane++) begin
          beat.data[8*lane+:8] = bytes.pop_front();
          beat.strobes[lane]   = 1'b1;
          at++;
          burst--;
        end
        beat.last = i == beats - 1;
        write_beats.push_back(beat);
      end
    end
  endtask

  task automatic put_read(input memory_command_t command);
    automatic logic [63:0] at = command.address;
    automatic int          left = int'(command.length);
    ends.push_back(left);
    while (left != 0) begin
      automatic int burst = burst_bytes(at[11:0], left);
      automatic int beats = (int'(at[2:0]) + burst + Lanes - 1) / Lanes;
      left -= burst;
      read_bursts.push_back({at, 8'(beats - 1)});
      for (int i = 0; i < beats; i++) begin
        automatic int count = Lanes - int'(at[2:0]) < burst ? Lanes - int'(at[2:0]) : burst;
        read_beats.push_back({at[2:0], 4'(count)});
        at    += 64'(count);
        burst -= count;
      end
    end
  endtask

  task automatic give_read();
    automatic int          count = ends[0] - asked < Lanes ? ends[0] - asked : Lanes;
    automatic logic [63:0] data = '1;
    if (read_bytes.size() < count) return;
    for (int i = 0; i < count; i++) data[8*i+:8] = read_bytes.pop_front();
    asked += count;
    mrd_tvalid_o <= 1'b1;
    mrd_tdata_o  <= data;
    mrd_tkeep_o  <= 8'hFF >> (Lanes - count);
    mrd_tlast_o  <= asked == ends[0];
    if (asked == ends[0]) begin
      void'(ends.pop_front());
      asked = 0;
    end
  endtask

  always @(posedge clk_i) begin
    {mwc_ready_o, mwd_tready_o, mrc_ready_o} <= '1;
    mdn_valid_o <= 1'b0;
    if (!rst_ni) begin
      {awvalid_o, wvalid_o, arvalid_o, mrd_tvalid_o} <= '0;
      {mwc_ready_o, mwd_tready_o, mrc_ready_o} <= '0;
      awid_o <= '0;
      asked = 0;
    end else begin
      if (mwc_valid_i && mwc_ready_o) writes.push_back(mwc_i);
      for (int lane = 0; lane < Lanes; lane++) begin
        if (mwd_tvalid_i && mwd_tready_o && mwd_tkeep_i[lane])
          bytes.push_back(mwd_tdata_i[8*lane+:8]);
      end
      if (writes.size() != 0 && bytes.size() >= int'(writes[0].length)) begin
        automatic memory_command_t command = writes.pop_front();
        put_write(command);
        if (fault == "early") begin
          mdn_valid_o <= 1'b1;
          mdn_o       <= '{tag: command.tag, reserved: '0};
        end
      end
      if (bvalid_i) begin
        automatic response_t response = responses.pop_front();
        if (response.last && fault != "early") begin
          mdn_valid_o <= 1'b1;
          mdn_o       <= '{tag: response.tag, reserved: '0};
        end
      end
      if (mrc_valid_i && mrc_ready_o) put_read(mrc_i);
      if (!awvalid_o || awready_i) begin
        awvalid_o <= write_bursts.size() != 0;
        awid_o    <= awid_o + 4'd1;
        if (write_bursts.size() != 0) begin
          automatic burst_t burst = write_bursts.pop_front();
          {awaddr_o, awlen_o} <= burst;
        end
      end
      if (!wvalid_o || wready_i) begin
        wvalid_o <= write_beats.size() != 0;
        if (write_beats.size() != 0) begin
          automatic write_beat_t beat = write_beats.pop_front();
          {wdata_o, wstrb_o, wlast_o} <= beat;
        end
      end
      if (!arvalid_o || arready_i) begin
        arvalid_o <= read_bursts.size() != 0;
        if (read_bursts.size() != 0) begin
          automatic burst_t burst = read_bursts.pop_front();
          {araddr_o, arlen_o} <= burst;
        end
      end
      if (rvalid_i) begin
        automatic read_beat_t beat = read_beats.pop_front();
        for (int i = 0; i < int'(beat.count); i++) begin
          read_bytes.push_back(rdata_i[8*(int'(beat.lane)+i)+:8]);
        end
      end
      if (mrd_tready_i) mrd_tvalid_o <= 1'b0;
      if (ends.size() != 0 && (!mrd_tvalid_o || mrd_tready_i)) give_read();
    end
  end

endmodule

`default_nettype wire
