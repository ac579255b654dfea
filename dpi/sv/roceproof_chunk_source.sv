// SPDX-License-Identifier: BSD-2-Clause
//
// A byte stream into the DUT (received frames or payload), pulled from C one
// chunk at a time and offered beat by beat at full rate. Calls C only after a
// wake, and then once per chunk until C has nothing more.

`default_nettype none

module roceproof_chunk_source
  import roceproof_bridge_pkg::*;
#(
  parameter int          Index     = 0,
  parameter int          Stream    = StreamRx,
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [63:0]            seed_i,
  input  wire cycle_t                 cycle_i,
  input  wire logic                   wake_i,
  input  wire logic [7:0]             gap_i,  // percent
  output logic      [DataWidth-1:0]   tdata_o,
  output logic      [DataWidth/8-1:0] tkeep_o,
  output logic                        tvalid_o,
  output logic                        tlast_o,
  output logic                        tuser_o,
  input  wire logic                   tready_i
);

  localparam int unsigned Lanes = DataWidth / 8;
  localparam int unsigned Beats = ChunkBytes / Lanes;

  typedef logic [(Beats > 1 ? $clog2(Beats) : 1)-1:0] beat_t;
  typedef logic [ChunkBytes-1:0] lanes_t;

  logic [Beats-1:0][DataWidth-1:0] chunk_q;
  logic [Beats-1:0][Lanes-1:0]    keep_q;
  beat_t                          beat_q, last_beat_q;
  logic                           loaded_q, awake_q, last_q, discard_q, early_q;

  function automatic lanes_t lanes_in_use(input chunk_info_t info);
    return ({ChunkBytes{1'b1}} << info.first) & ~({ChunkBytes{1'b1}} << info.stop);
  endfunction

  logic open;
  logic taken, chunk_end, fetch;
  assign taken     = tvalid_o && tready_i;
  assign chunk_end = beat_q == last_beat_q;
  assign fetch     = awake_q && (!loaded_q || (taken && chunk_end));

  assign tvalid_o = loaded_q && open;
  assign tlast_o  = last_q && chunk_end;
  assign tuser_o  = tlast_o ? discard_q : early_q;

  // Simulators copy fixed slices of wide vectors much faster than moving ones, if they are few.
  if (Beats <= 16) begin : gen_few
    always_comb begin
      tdata_o = chunk_q[0];
      for (int unsigned i = 1; i < Beats; i++) begin
        if (32'(beat_q) == i) tdata_o = chunk_q[i];
      end
    end
  end else begin : gen_many
    assign tdata_o = chunk_q[beat_q];
  end
  assign tkeep_o = keep_q[beat_q];

  roceproof_gate #(
    .Stream(Stream)
  ) u_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(gap_i),
    .draw_i   (!tvalid_o || tready_i),
    .open_o   (open)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      loaded_q <= 1'b0;
      awake_q  <= 1'b0;
    end else begin
      if (wake_i) awake_q <= 1'b1;
      if (taken) beat_q <= beat_q + beat_t'(1);
      if (fetch) begin
        automatic chunk_t      data;
        automatic chunk_info_t info;
        info        = roceproof_get_chunk(port[Index], Stream, cycle_i, data);
        loaded_q    <= info.valid;
        awake_q     <= info.valid;
        chunk_q     <= data;
        keep_q      <= lanes_in_use(info);
        beat_q      <= '0;
        last_beat_q <= beat_t'((32'(info.stop) - 1) / Lanes);
        last_q      <= info.last;
        discard_q   <= info.discard;
        early_q     <= info.early;
      end
    end
  end

endmodule

`default_nettype wire
