// SPDX-License-Identifier: BSD-2-Clause
//
// Writes of an AXI4 master as commands to memory. Bytes of one burst that
// follow each other are one command, whatever beats they came in; where strobes
// leave a hole the next command begins, and a burst without strobes makes none.
// B comes after the done of the burst's last command, so in the order of AW.
// Data are taken behind their address; a beat without holes moves in every cycle.

`default_nettype none

module axi4_write_memory
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth   = 64,
  parameter int unsigned BusWidth    = 64,
  parameter int unsigned AddrWidth   = 64,
  parameter int unsigned IdWidth     = 4,
  parameter int unsigned Outstanding = 16   // commands without a done: a power of two
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,

  input  wire logic [IdWidth-1:0]     s_awid_i,
  input  wire logic [AddrWidth-1:0]   s_awaddr_i,
  input  wire logic [2:0]             s_awsize_i,
  input  wire logic                   s_awvalid_i,
  output logic                        s_awready_o,
  input  wire logic [BusWidth-1:0]    s_wdata_i,
  input  wire logic [BusWidth/8-1:0]  s_wstrb_i,
  input  wire logic                   s_wlast_i,
  input  wire logic                   s_wvalid_i,
  output logic                        s_wready_o,
  output logic [IdWidth-1:0]          s_bid_o,
  output logic                        s_bvalid_o,
  input  wire logic                   s_bready_i,

  output logic                        mwc_valid_o,
  input  wire logic                   mwc_ready_i,
  output memory_command_t             mwc_o,
  output logic [DataWidth-1:0]        mwd_tdata_o,
  output logic [DataWidth/8-1:0]      mwd_tkeep_o,
  output logic                        mwd_tvalid_o,
  output logic                        mwd_tlast_o,
  input  wire logic                   mwd_tready_i,
  input  wire logic                   mdn_valid_i,
  input  wire memory_done_t           mdn_i
);

  localparam int unsigned Lanes = BusWidth / 8;

  typedef logic [AddrWidth-1:0] addr_t;
  typedef logic [Lanes-1:0]     strobes_t;

  localparam addr_t InWord = addr_t'(Lanes) - addr_t'(1);

  // The burst whose data are due.
  logic               busy_q;
  logic [IdWidth-1:0] id_q;
  logic [2:0]         size_q;
  addr_t              addr_q;  // of the beat
  strobes_t           done_q;  // lanes of the beat that have been taken

  // Of the beat: the lowest strobes in a row that are left, and what is above them.
  strobes_t todo, run, rest;
  addr_t    run_addr;
  logic     has_run, beat_last;

  always_comb begin
    todo     = s_wstrb_i & ~done_q;
    rest     = todo & (todo + (todo & (~todo + 1'b1)));
    run      = todo & ~rest;
    run_addr = addr_q & ~InWord;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      if (run[lane]) begin
        run_addr = run_addr | addr_t'(lane);
        break;
      end
    end
  end

  assign has_run   = run != '0;
  assign beat_last = rest == '0;

  // A row is held until it is known whether the next one continues it.
  logic                held_q;
  logic [BusWidth-1:0] held_data_q;
  strobes_t            held_run_q;    // 0: a burst that wrote nothing
  addr_t               held_addr_q;
  logic                held_final_q;  // the burst has no more
  logic [IdWidth-1:0]  held_id_q;
  logic [31:0]         before_q;      // bytes of its packet that have gone before it

  addr_t       held_count, packet_addr;
  logic [7:0]  held_bytes;
  logic        held_empty, fresh, ends, emit, emittable, take, burst_ends;
  logic        packet_ready, command_free, order_free;
  logic [15:0] tag;

  // In two steps: Verilator 5.006 counts wrongly where the result is wider than 32 bits.
  assign held_bytes  = 8'($countones(held_run_q));
  assign held_count  = addr_t'(held_bytes);
  assign packet_addr = held_addr_q - addr_t'(before_q);
  assign held_empty  = held_run_q == '0;
  assign fresh       = busy_q && s_wvalid_i && has_run;
  assign ends        = held_final_q || run_addr != held_addr_q + held_count;

  assign command_free = !mwc_valid_o || mwc_ready_i;
  assign emittable    = held_q && (held_final_q || fresh)
                        && (!ends || (order_free && (held_empty || command_free)));
  assign emit         = emittable && (held_empty || packet_ready);

  // What a beat says of the held row alone waits only for the end of another burst.
  assign take       = busy_q && s_wvalid_i
                      && (!held_q || emit || (!has_run && !(s_wlast_i && held_final_q)));
  assign burst_ends = take && beat_last && s_wlast_i;

  assign s_wready_o  = take && beat_last;
  assign s_awready_o = !busy_q || burst_ends;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      held_q   <= 1'b0;
      done_q   <= '0;
      before_q <= '0;
    end else begin
      if (emit) begin
        held_q   <= 1'b0;
        before_q <= ends ? '0 : before_q + 32'(held_count);
      end
      if (take) begin
        done_q <= beat_last ? '0 : done_q | run;
        if (beat_last) begin
          addr_q <= ((addr_q >> size_q) + addr_t'(1)) << size_q;
        end
        if (has_run) begin
          held_q       <= 1'b1;
          held_data_q  <= s_wdata_i;
          held_run_q   <= run;
          held_addr_q  <= run_addr;
          held_final_q <= burst_ends;
          held_id_q    <= id_q;
        end else if (burst_ends) begin
          held_q       <= 1'b1;
          held_final_q <= 1'b1;
          held_id_q    <= id_q;
          if (!held_q || emit) held_run_q <= '0;
        end
      end
      if (s_awready_o) begin
        busy_q <= s_awvalid_i;
        id_q   <= s_awid_i;
        size_q <= s_awsize_i;
        addr_q <= s_awaddr_i;
      end
    end
  end

  stream_gearbox #(
    .InLanes (Lanes),
    .OutLanes(DataWidth / 8)
  ) u_packet (
    .clk_i,
    .rst_ni,
    .s_tdata_i (held_data_q),
    .s_tkeep_i (held_run_q),
    .s_tvalid_i(emittable && !held_empty),
    .s_tlast_i (ends),
    .s_tuser_i (1'b0),
    .s_tready_o(packet_ready),
    .m_tdata_o (mwd_tdata_o),
    .m_tkeep_o (mwd_tkeep_o),
    .m_tvalid_o(mwd_tvalid_o),
    .m_tlast_o (mwd_tlast_o),
    .m_tuser_o (),
    .m_tready_i(mwd_tready_i)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      mwc_valid_o <= 1'b0;
    end else begin
      if (mwc_ready_i) mwc_valid_o <= 1'b0;
      if (emit && ends && !held_empty) begin
        mwc_valid_o <= 1'b1;
        mwc_o       <= '{address: 64'(packet_addr),
                         length: before_q + 32'(held_count), tag: tag, reserved: '0};
      end
    end
  end

  axi4_write_order #(
    .IdWidth    (IdWidth),
    .Outstanding(Outstanding)
  ) u_order (
    .clk_i,
    .rst_ni,
    .command_valid_i(emit && ends),
    .command_ready_o(order_free),
    .wrote_i        (!held_empty),
    .final_i        (held_final_q),
    .id_i           (held_id_q),
    .tag_o          (tag),
    .done_valid_i   (mdn_valid_i),
    .done_i         (mdn_i),
    .bid_o          (s_bid_o),
    .bvalid_o       (s_bvalid_o),
    .bready_i       (s_bready_i)
  );

endmodule

`default_nettype wire
