// SPDX-License-Identifier: BSD-2-Clause
//
// Writes 12 bytes to memory, reads them and writes them to address 64, once.
// +write= chooses what is wrong with it: 1 a hole, 2 a beat that is not full
// before the last, 3 a length of 0; without a look at ready, it goes on from a
// command to write (4), a beat of data (5), a command to read (6); 7 it changes
// a command that waits.

`default_nettype none

module memory_dut
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [127:0]           port_gid_i,
  input  wire logic                   qpc_valid_i,
  output logic                        qpc_ready_o,
  input  wire qp_config_t             qpc_i,
  input  wire logic                   wr_valid_i,
  output logic                        wr_ready_o,
  input  wire work_request_t          wr_i,
  input  wire logic [DataWidth-1:0]   pl_tdata_i,
  input  wire logic [DataWidth/8-1:0] pl_tkeep_i,
  input  wire logic                   pl_tvalid_i,
  input  wire logic                   pl_tlast_i,
  output logic                        pl_tready_o,
  output logic                        cpl_valid_o,
  input  wire logic                   cpl_ready_i,
  output completion_t                 cpl_o,
  output logic [DataWidth-1:0]        tx_tdata_o,
  output logic [DataWidth/8-1:0]      tx_tkeep_o,
  output logic                        tx_tvalid_o,
  output logic                        tx_tlast_o,
  output logic                        tx_tuser_o,
  input  wire logic                   tx_tready_i,
  input  wire logic [DataWidth-1:0]   rx_tdata_i,
  input  wire logic [DataWidth/8-1:0] rx_tkeep_i,
  input  wire logic                   rx_tvalid_i,
  input  wire logic                   rx_tlast_i,
  input  wire logic                   rx_tuser_i,
  output logic                        rx_tready_o,
  input  wire logic                   mr_valid_i,
  output logic                        mr_ready_o,
  input  wire memory_region_t         mr_i,
  input  wire logic                   rcv_valid_i,
  output logic                        rcv_ready_o,
  input  wire receive_t               rcv_i,
  output logic                        rcp_valid_o,
  input  wire logic                   rcp_ready_i,
  output receive_completion_t         rcp_o,
  output logic                        mwc_valid_o,
  input  wire logic                   mwc_ready_i,
  output memory_command_t             mwc_o,
  output logic [DataWidth-1:0]        mwd_tdata_o,
  output logic [DataWidth/8-1:0]      mwd_tkeep_o,
  output logic                        mwd_tvalid_o,
  output logic                        mwd_tlast_o,
  input  wire logic                   mwd_tready_i,
  input  wire logic                   mdn_valid_i,
  input  wire memory_done_t           mdn_i,
  output logic                        mrc_valid_o,
  input  wire logic                   mrc_ready_i,
  output memory_command_t             mrc_o,
  input  wire logic [DataWidth-1:0]   mrd_tdata_i,
  input  wire logic [DataWidth/8-1:0] mrd_tkeep_i,
  input  wire logic                   mrd_tvalid_i,
  input  wire logic                   mrd_tlast_i,
  output logic                        mrd_tready_o
);

  localparam logic [31:0] Bytes = 32'd12;
  localparam logic [31:0] Over  = 32'h8000_0001;

  typedef enum logic [1:0] { Write, Read, Copy, Rest } stage_e;

  int     fault;
  stage_e stage_q;
  logic   asked_q;           // the command of the stage is taken
  logic   second_q, sent_q;  // the data of the write: the beat, and whether all are taken
  logic   waits_q;           // the command has waited

  initial if ($value$plusargs("write=%d", fault) == 0) fault = 0;

  // Of a command, and what faults of these numbers make of it.
  function automatic logic [31:0] length_of(input int none, input int more, input int most);
    if (fault == 0) return Bytes;
    return fault == none ? 32'd0 : fault == more ? Bytes + 32'd1 : fault == most ? Over : Bytes;
  endfunction

  assign {qpc_ready_o, wr_ready_o, pl_tready_o, rx_tready_o, mr_ready_o, rcv_ready_o} = '1;
  assign {cpl_valid_o, tx_tvalid_o, tx_tlast_o, tx_tuser_o, rcp_valid_o} = '0;
  assign cpl_o = '0;
  assign rcp_o = '0;
  assign {tx_tdata_o, tx_tkeep_o} = '0;

  assign mwc_valid_o = !asked_q && (stage_q == Write || stage_q == Copy);
  assign mrc_valid_o = !asked_q && stage_q == Read;

  always_comb begin
    mwc_o         = '0;
    mwc_o.address = (stage_q == Copy ? 64'd64 : 64'd0) + 64'(fault == 7 && waits_q);
    mwc_o.length  = length_of(3, 8, 9);
    mrc_o         = '0;
    mrc_o.length  = length_of(10, 0, 11);
  end

  always_comb begin
    mwd_tdata_o  = 64'h0807_0605_0403_0201;
    mwd_tkeep_o  = !second_q ? (fault == 2 ? 8'h0f : 8'hff) : fault == 1 ? 8'h1b : 8'h0f;
    mwd_tlast_o  = second_q;
    mwd_tvalid_o = stage_q == Write && !sent_q;
    mrd_tready_o = 1'b0;
    if (stage_q == Copy) begin
      {mwd_tdata_o, mwd_tkeep_o} = {mrd_tdata_i, mrd_tkeep_i};
      {mwd_tlast_o, mwd_tvalid_o} = {mrd_tlast_i, mrd_tvalid_i};
      mrd_tready_o = mwd_tready_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stage_q  <= Write;
      asked_q  <= 1'b0;
      second_q <= 1'b0;
      sent_q   <= 1'b0;
      waits_q  <= 1'b0;
    end else begin
      waits_q <= mwc_valid_o && !mwc_ready_i;
      if (mwc_valid_o && (mwc_ready_i || fault == 4)) asked_q <= fault != 12;
      if (mrc_valid_o && (mrc_ready_i || fault == 6) && fault != 13) begin
        asked_q <= 1'b0;
        stage_q <= Copy;
      end
      if (stage_q == Write && !sent_q && (mwd_tready_i || fault == 5)) begin
        second_q <= !second_q;
        sent_q   <= second_q;
      end
      if (mdn_valid_i) begin
        asked_q <= 1'b0;
        stage_q <= stage_q == Write ? Read : Rest;
      end
    end
  end

endmodule

`default_nettype wire
