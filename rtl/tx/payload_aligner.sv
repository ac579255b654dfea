// SPDX-License-Identifier: BSD-2-Clause
//
// Turns the payload of one message, which starts in lane `offset` of its first
// beat, into ceil(length / lanes) beats that start in lane 0 and are zero past
// the end of the message. Takes exactly the beats the message occupies, none
// before its command; a command always has length > 0. A command to discard
// takes what comes up to tlast and gives nothing.

`default_nettype none

module payload_aligner #(
  parameter int unsigned DataWidth  = 64,
  parameter int unsigned OffsetBits = $clog2(DataWidth / 8)
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  command_valid_i,
  output logic                       command_ready_o,
  input  wire logic                  command_discard_i,
  input  wire logic [OffsetBits-1:0] command_offset_i,
  input  wire logic [31:0]           command_length_i,
  input  wire logic [DataWidth-1:0]  s_tdata_i,
  input  wire logic                  s_tvalid_i,
  input  wire logic                  s_tlast_i,
  output logic                       s_tready_o,
  output logic [DataWidth-1:0]       m_tdata_o,
  output logic                       m_tvalid_o,
  input  wire logic                  m_tready_i
);

  localparam int unsigned Lanes     = DataWidth / 8;
  localparam int unsigned CountBits = 33 - OffsetBits;

  typedef logic [CountBits-1:0] count_t;

  logic                  discard_q;
  logic [OffsetBits-1:0] offset_q;
  logic [OffsetBits-1:0] tail_q;       // bytes in the last beat, 0 is all
  count_t                inputs_q;     // beats still to take
  count_t                outputs_q;    // beats still to give
  logic                  primed_q;     // carry_q holds the start of the next beat
  logic [DataWidth-1:0]  carry_q;

  logic                  first_of_many;
  logic                  step;
  logic                  give;
  logic [DataWidth-1:0]  rotated;
  logic [DataWidth-1:0]  low_lanes;
  logic [DataWidth-1:0]  beat;

  assign first_of_many   = offset_q != '0 && !primed_q && inputs_q > count_t'(1);
  assign step            = outputs_q != '0 && (inputs_q == '0 || s_tvalid_i)
                           && (first_of_many || !m_tvalid_o || m_tready_i);
  assign give            = step && !first_of_many;
  assign s_tready_o      = discard_q || (step && inputs_q != '0);
  assign command_ready_o = discard_q ? s_tvalid_i && s_tlast_i
                                     : outputs_q == '0 || (give && outputs_q == count_t'(1));

  always_comb begin
    rotated   = '0;
    low_lanes = '0;
    beat      = '0;
    if (step) begin
      if (inputs_q != '0) begin
        rotated = DataWidth'({s_tdata_i, s_tdata_i} >> {offset_q, 3'b0});
      end
      low_lanes = {DataWidth{1'b1}} >> {offset_q, 3'b0};
      beat      = primed_q ? (carry_q & low_lanes) | (rotated & ~low_lanes) : rotated;
      if (outputs_q == count_t'(1) && tail_q != '0) begin
        beat &= ~({DataWidth{1'b1}} << {tail_q, 3'b0});
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      outputs_q  <= '0;
      discard_q  <= 1'b0;
      m_tvalid_o <= 1'b0;
    end else begin
      if (m_tready_i) m_tvalid_o <= 1'b0;
      if (step) begin
        primed_q <= offset_q != '0;
        carry_q  <= rotated;
        if (inputs_q != '0) inputs_q <= inputs_q - 1'b1;
      end
      if (give) begin
        m_tvalid_o <= 1'b1;
        m_tdata_o  <= beat;
        outputs_q  <= outputs_q - 1'b1;
      end
      if (s_tvalid_i && s_tlast_i) discard_q <= 1'b0;
      if (command_valid_i && command_ready_o) begin
        offset_q  <= command_offset_i;
        tail_q    <= command_length_i[OffsetBits-1:0];
        inputs_q  <= beats(command_length_i, command_offset_i);
        outputs_q <= command_discard_i ? '0 : beats(command_length_i, '0);
        discard_q <= command_discard_i;
        primed_q  <= 1'b0;
      end
    end
  end

  function automatic count_t beats(logic [31:0] length, logic [OffsetBits-1:0] offset);
    return count_t'((33'(length) + 33'(offset) + 33'(Lanes - 1)) >> OffsetBits);
  endfunction

  assert_last_agrees: assert property (@(posedge clk_i) disable iff (!rst_ni)
      s_tready_o && !discard_q |-> s_tlast_i == (inputs_q == count_t'(1)))
  else $error("payload tlast does not agree with the length of its work request");

endmodule

`default_nettype wire
