// SPDX-License-Identifier: BSD-2-Clause
//
// Asks the other end of the link for a pause while room for what it sends runs
// short: from used_i >= High on until used_i <= Low, when the pause is lifted.
// A pause is told again in the middle of its time. It is one of Classes
// (802.1Qbb), or of the whole link (802.3 annex 31B) if that is 0. The frames
// have 60 bytes.

`default_nettype none

module pause_sender
  import xgmii_pkg::*;
#(
  parameter int unsigned UsedBits = 12,
  parameter int unsigned High     = 1024,
  parameter int unsigned Low      = 512,
  parameter logic [7:0]  Classes  = 8'h01,
  parameter logic [15:0] Quanta   = 16'hFFFF
) (
  input  wire logic                clk_i,
  input  wire logic                rst_ni,
  input  wire logic [47:0]         port_mac_i,
  input  wire logic [UsedBits-1:0] used_i,
  output logic      [63:0]         m_tdata_o,
  output logic      [7:0]          m_tkeep_o,
  output logic                     m_tvalid_o,
  output logic                     m_tlast_o,
  input  wire logic                m_tready_i
);

  localparam int unsigned AgainCycles = 32'(Quanta) * QuantumCycles / 2;
  localparam int unsigned AgainBits   = $clog2(AgainCycles + 1);
  localparam logic [2:0]  LastBeat    = 3'd7;

  logic                 asked_q;  // the latest frame asks for a pause
  logic [AgainBits-1:0] again_q;  // cycles until it is told again
  logic [2:0]           beat_q;
  logic                 asks, lifts;

  assign asks  = used_i >= UsedBits'(High) && (!asked_q || again_q == '0);
  assign lifts = used_i <= UsedBits'(Low) && asked_q;

  always_ff @(posedge clk_i) begin
    if (again_q != '0) again_q <= again_q - 1'b1;
    if (!m_tvalid_o && (asks || lifts)) begin
      m_tvalid_o <= 1'b1;
      asked_q    <= asks;
      again_q    <= AgainBits'(AgainCycles);
    end
    if (m_tvalid_o && m_tready_i) begin
      beat_q <= beat_q + 3'd1;
      if (m_tlast_o) m_tvalid_o <= 1'b0;
    end
    if (!rst_ni) begin
      asked_q    <= 1'b0;
      beat_q     <= '0;
      m_tvalid_o <= 1'b0;
    end
  end

  // First byte first, as it is on the wire.
  logic [511:0] frame;
  logic [15:0]  quanta;

  assign quanta = asked_q ? Quanta : '0;

  always_comb begin
    frame          = '0;
    frame[511-:112] = {ToTheLink, port_mac_i, EtherType};
    if (Classes == '0) begin
      frame[399-:32] = {GlobalPause, quanta};
    end else begin
      frame[399-:32] = {PriorityPause, 8'd0, Classes};
      for (int n = 0; n < 8; n++) begin
        if (Classes[n]) frame[367-16*n-:16] = quanta;
      end
    end
    for (int lane = 0; lane < 8; lane++) begin
      m_tdata_o[8*lane+:8] = frame[511-64*int'(beat_q)-8*lane-:8];
    end
  end

  assign m_tlast_o = beat_q == LastBeat;
  assign m_tkeep_o = m_tlast_o ? 8'h0F : 8'hFF;

endmodule

`default_nettype wire
