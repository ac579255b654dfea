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

  // The next command, its beats counted.
  logic                  next_valid_q;
  logic                  next_discard_q;
  logic [OffsetBits-1:0] next_offset_q;
  logic [OffsetBits-1:0] next_tail_q;
  count_t                next_inputs_q;
  count_t                next_outputs_q;
  logic                  load;

  logic                  discard_q;
  logic [OffsetBits-1:0] offset_q;
  logic [OffsetBits-1:0] tail_q;       // bytes in the last beat, 0 is all
  count_t                inputs_q;     // beats still to take
  count_t                outputs_q;    // beats still to give
  logic                  taking_q;     // inputs_q is not zero
  logic                  many_q;       // inputs_q is more than one
  logic                  giving_q;     // outputs_q is not zero
  logic                  last_q;       // outputs_q is one
  logic                  primed_q;     // carry_q holds the start of the next beat
  logic [DataWidth-1:0]  carry_q;

  logic                  first_of_many;
  logic                  step;
  logic                  give;
  logic [DataWidth-1:0]  rotated;
  logic [DataWidth-1:0]  low_lanes;
  logic [DataWidth-1:0]  beat;

  assign first_of_many   = offset_q != '0 && !primed_q && many_q;
  assign step            = giving_q && (!taking_q || s_tvalid_i)
                           && (first_of_many || !m_tvalid_o || m_tready_i);
  assign give            = step && !first_of_many;
  assign s_tready_o      = discard_q || (step && taking_q);
  assign command_ready_o = !next_valid_q;
  assign load            = next_valid_q && (discard_q ? s_tvalid_i && s_tlast_i
                                                      : !giving_q || (give && last_q));

  always_comb begin
    rotated   = '0;
    low_lanes = '0;
    beat      = '0;
    if (step) begin
      if (taking_q) begin
        rotated = DataWidth'({s_tdata_i, s_tdata_i} >> {offset_q, 3'b0});
      end
      low_lanes = {DataWidth{1'b1}} >> {offset_q, 3'b0};
      beat      = primed_q ? (carry_q & low_lanes) | (rotated & ~low_lanes) : rotated;
      if (last_q && tail_q != '0) begin
        beat &= ~({DataWidth{1'b1}} << {tail_q, 3'b0});
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_valid_q <= 1'b0;
      giving_q     <= 1'b0;
      discard_q    <= 1'b0;
      m_tvalid_o   <= 1'b0;
    end else begin
      if (m_tready_i) m_tvalid_o <= 1'b0;
      if (step) begin
        primed_q <= offset_q != '0;
        carry_q  <= rotated;
        if (taking_q) inputs_q <= inputs_q - 1'b1;
        taking_q <= many_q;
        many_q   <= many_q && inputs_q != count_t'(2);
      end
      if (give) begin
        m_tvalid_o <= 1'b1;
        m_tdata_o  <= beat;
        outputs_q  <= outputs_q - 1'b1;
        giving_q   <= !last_q;
        last_q     <= outputs_q == count_t'(2);
      end
      if (s_tvalid_i && s_tlast_i) discard_q <= 1'b0;
      if (load) begin
        next_valid_q <= 1'b0;

        offset_q  <= next_offset_q;
        tail_q    <= next_tail_q;
        inputs_q  <= next_inputs_q;
        outputs_q <= next_outputs_q;
        taking_q  <= 1'b1;
        many_q    <= next_inputs_q != count_t'(1);
        giving_q  <= !next_discard_q;
        last_q    <= next_outputs_q == count_t'(1);
        discard_q <= next_discard_q;
        primed_q  <= 1'b0;
      end
      if (command_ready_o) begin
        next_valid_q   <= command_valid_i;
        next_discard_q <= command_discard_i;
        next_offset_q  <= command_offset_i;
        next_tail_q    <= command_length_i[OffsetBits-1:0];
        next_inputs_q  <= beats(command_length_i, command_offset_i);
        next_outputs_q <= beats(command_length_i, '0);
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
