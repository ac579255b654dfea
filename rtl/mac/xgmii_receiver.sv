// SPDX-License-Identifier: BSD-2-Clause
//
// Frames from XGMII, started in lane 0 or 4, without preamble and FCS. tuser
// with tlast marks one whose FCS is wrong, that is shorter than 64 bytes, has
// an error character or ends with anything but Terminate. What begins without
// a delimiter, or has nothing in front of its FCS, is no frame. XGMII waits for
// nobody, so there is no tready.

`default_nettype none

module xgmii_receiver
  import xgmii_pkg::*;
(
  input  wire logic        clk_i,
  input  wire logic        rst_ni,
  input  wire logic [63:0] xgmii_rxd_i,
  input  wire logic [7:0]  xgmii_rxc_i,
  output logic      [63:0] m_tdata_o,
  output logic      [7:0]  m_tkeep_o,
  output logic             m_tvalid_o,
  output logic             m_tlast_o,
  output logic             m_tuser_o
);

  // The columns of a frame as if it had begun in lane 0.
  column_t     heard, column;
  lane_t [3:0] half_q;
  logic        shifted_q, is_shifted;
  logic        starts_late_q;  // a frame began in lane 4 of the column before
  logic        begins;         // this column has the preamble

  for (genvar lane = 0; lane < 8; lane++) begin : gen_lane
    assign heard[lane] = {xgmii_rxc_i[lane], xgmii_rxd_i[8*lane+:8]};
  end

  assign begins     = heard[0] == Start || starts_late_q;
  assign is_shifted = heard[0] == Start ? 1'b0 : starts_late_q || shifted_q;
  assign column     = is_shifted ? {heard[3:0], half_q} : heard;

  always_ff @(posedge clk_i) begin
    half_q        <= heard[7:4];
    shifted_q     <= is_shifted;
    starts_late_q <= heard[4] == Start && rst_ni;
  end

  // What of this column is the frame's: bytes up to the first character that ends it.
  logic       amid_q, bad_q, first_q;
  logic [3:0] count_q;   // whole columns, up to those of the shortest frame
  logic       ends, bad;
  logic [3:0] bytes;

  always_comb begin
    ends  = begins;
    bytes = begins ? 4'd0 : 4'd8;
    bad  = bad_q || begins;
    for (int unsigned lane = 0; lane < 8; lane++) begin
      if (!ends) begin
        ends = column[lane][8] && column[lane] != Error;
        bad |= column[lane] == Error || (ends && column[lane] != Terminate);
        if (ends) bytes = 4'(lane);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (begins) begin
      amid_q  <= column[7] == Delimiter;
      bad_q  <= 1'b0;
      first_q <= 1'b1;
      count_q <= '0;
      for (int lane = 1; lane < 7; lane++) begin
        if (column[lane][8]) amid_q <= 1'b0;
      end
    end else if (amid_q) begin
      amid_q  <= !ends;
      bad_q  <= bad;
      first_q <= 1'b0;
      if (!count_q[3]) count_q <= count_q + 4'd1;
    end
    if (!rst_ni) amid_q <= 1'b0;
  end

  // The FCS of a column comes with the second stage. One column more has to be known, for
  // the four bytes of FCS may begin in it or in the one before.
  typedef struct packed {
    logic        valid;
    logic        ends;
    logic        bad;
    logic [3:0]  bytes;
    logic [63:0] data;
  } part_t;

  part_t       part, summed_q, judged_q, due_q;
  logic        wrong;
  logic [31:0] crc;

  always_comb begin
    part.valid = amid_q;
    part.ends  = ends;
    part.bad  = bad || (ends && !count_q[3]);
    part.bytes = bytes;
    for (int lane = 0; lane < 8; lane++) part.data[8*lane+:8] = column[lane][7:0];
  end

  fcs_engine u_fcs_engine (
    .clk_i,
    .rst_ni,
    .valid_i(amid_q && bytes != '0),
    .first_i(first_q),
    .data_i (part.data),
    .keep_i (8'hFF >> (4'd8 - bytes)),
    .crc_o  (crc)
  );

  // The register behind a frame with its right FCS and so many bytes of zeros.
  function automatic logic [31:0] right(logic [2:0] zeros);
    localparam logic [31:0] Residue = 32'hDEBB20E3;
    right = Residue;
    for (int unsigned n = 0; n < 7; n++) begin
      if (n < 32'(zeros)) begin
        automatic logic [31:0] shorter = right;
        for (int unsigned j = 0; j < 32; j++) begin
          right[j] = ^(shorter[7:0] & crc32_matrix_pkg::CrcRow[j][1023-:8]) ^ (j < 24 && shorter[(j+8)%32]);
        end
      end
    end
  endfunction

  assign wrong = judged_q.bad || crc != right(3'(4'd8 - judged_q.bytes));

  assign m_tdata_o  = due_q.data;
  assign m_tvalid_o = due_q.valid && (!due_q.ends || due_q.bytes > 4'd4);
  assign m_tuser_o  = due_q.ends ? due_q.bad : wrong;

  always_comb begin
    m_tkeep_o = '1;
    m_tlast_o = 1'b0;
    if (due_q.ends) begin
      m_tkeep_o = 8'hFF >> (4'd12 - due_q.bytes);
      m_tlast_o = 1'b1;
    end else if (judged_q.ends && judged_q.bytes <= 4'd4) begin
      m_tkeep_o = 8'hFF >> (4'd4 - judged_q.bytes);
      m_tlast_o = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    summed_q  <= part;
    judged_q  <= summed_q;
    due_q     <= judged_q;
    due_q.bad <= wrong;
    if (!rst_ni) begin
      summed_q.valid <= 1'b0;
      judged_q.valid <= 1'b0;
      due_q.valid    <= 1'b0;
    end
  end

  assert_goes_on: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(due_q.valid && !due_q.ends && !judged_q.valid))
  else $error("a frame has no end");

endmodule

`default_nettype wire
