// SPDX-License-Identifier: BSD-2-Clause
//
// From answers to packets: an ACKNOWLEDGE is one, or what answers an atomic; a
// READ is answered by as many as its bytes need at the path MTU, with an AETH in
// the first, the last and the only one. With each packet goes a note of what ends with it, and for each that
// has payload the command to memory for just that payload.

`default_nettype none

module response_segmenter
  import roce_tx_pkg::*;
  import request_pkg::*;
  import responder_pkg::*;
  import roceproof_dut_pkg::memory_command_t;
(
  input  wire logic            clk_i,
  input  wire logic            rst_ni,

  input  wire logic            answer_valid_i,
  output      logic            answer_ready_o,
  input  wire answer_t         answer_i,

  output      logic            packet_valid_o,
  input  wire logic            packet_ready_i,
  output      packet_t         packet_o,
  output      read_note_t      note_o,

  output      logic            command_valid_o,
  input  wire logic            command_ready_i,
  output      memory_command_t command_o
);

  localparam logic [7:0] ReadFirst  = 8'h0D;
  localparam logic [7:0] ReadMiddle = 8'h0E;
  localparam logic [7:0] ReadLast   = 8'h0F;
  localparam logic [7:0] ReadOnly   = 8'h10;
  localparam logic [7:0] AtomicAck  = 8'h12;

  logic [31:0] sent_q, left, size;
  logic [23:0] number_q;
  logic [15:0] tag_q;
  logic        first, last, step;

  assign first = number_q == '0;
  assign left  = answer_i.length - sent_q;
  assign last  = !answer_i.reads || left <= 32'(mtu_bytes(answer_i.path_mtu));
  assign size  = !answer_i.reads ? '0 : last ? left : 32'(mtu_bytes(answer_i.path_mtu));

  assign packet_valid_o  = answer_valid_i && (size == '0 || command_ready_i);
  assign step            = packet_valid_o && packet_ready_i;
  assign answer_ready_o  = packet_ready_i && last && (size == '0 || command_ready_i);
  assign command_valid_o = answer_valid_i && packet_ready_i && size != '0;

  assign command_o = '{
    address:  answer_i.address + 64'(sent_q),
    length:   size,
    tag:      tag_q,
    reserved: '0
  };

  // Don't Fragment is set, so the identification has nothing to identify.
  always_comb begin
    packet_o                  = '0;
    packet_o.path             = answer_i.path;
    packet_o.psn              = answer_i.psn + number_q;
    packet_o.payload_bytes    = size;
    packet_o.extensions.ipv6  = answer_i.path.ipv6;
    packet_o.extensions.immdt = first || last;  // the place of the AETH
    packet_o.immediate        = {answer_i.syndrome, answer_i.msn};
    packet_o.opcode           = roce_pkg::RcAcknowledge;
    if (answer_i.atomic) begin
      packet_o.opcode              = AtomicAck;
      packet_o.extensions.original = 1'b1;
      packet_o.original            = answer_i.original;
    end
    if (answer_i.reads) begin
      unique case ({first, last})
        2'b10: packet_o.opcode = ReadFirst;
        2'b00: packet_o.opcode = ReadMiddle;
        2'b01: packet_o.opcode = ReadLast;
        2'b11: packet_o.opcode = ReadOnly;
      endcase
    end

    note_o      = answer_i.note;
    note_o.ends = last && (answer_i.reads || answer_i.note.holds);
  end

  always_ff @(posedge clk_i) begin
    if (step) begin
      sent_q   <= last ? '0 : sent_q + size;
      number_q <= last ? '0 : number_q + 1'b1;
      if (size != '0) tag_q <= tag_q + 1'b1;
    end
    if (!rst_ni) begin
      sent_q   <= '0;
      number_q <= '0;
      tag_q    <= '0;
    end
  end

endmodule

`default_nettype wire
