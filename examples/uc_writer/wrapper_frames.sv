// SPDX-License-Identifier: BSD-2-Clause
//
// Frames between the contract's 64-bit stream, first byte in the lowest lane,
// and the core's 32-bit words, first byte on top. The core takes every word.

`default_nettype none

module wrapper_frames (
  input  wire logic        clk_i,
  input  wire logic        rst_ni,

  input  wire logic [31:0] tx_word_i,
  input  wire logic [3:0]  tx_keep_i,
  input  wire logic        tx_valid_i,
  input  wire logic        tx_last_i,
  output logic             tx_ready_o,
  output logic [63:0]      tx_tdata_o,
  output logic [7:0]       tx_tkeep_o,
  output logic             tx_tvalid_o,
  output logic             tx_tlast_o,
  input  wire logic        tx_tready_i,

  input  wire logic [63:0] rx_tdata_i,
  input  wire logic [7:0]  rx_tkeep_i,
  input  wire logic        rx_tvalid_i,
  input  wire logic        rx_tlast_i,
  output logic             rx_tready_o,
  output logic [31:0]      rx_word_o,
  output logic [3:0]       rx_keep_o,
  output logic             rx_last_o
);

  function automatic logic [31:0] turn_word(input logic [31:0] word);
    return {<<8{word}};
  endfunction

  function automatic logic [3:0] turn_keep(input logic [3:0] keep);
    return {<<{keep}};
  endfunction

  logic upper_q;  // the next word of a sent frame goes to lanes 7:4

  assign tx_ready_o = !tx_tvalid_o || tx_tready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      upper_q     <= 1'b0;
      tx_tvalid_o <= 1'b0;
    end else if (tx_ready_o) begin
      tx_tvalid_o <= tx_valid_i && (upper_q || tx_last_i);
      tx_tlast_o  <= tx_last_i;
      if (tx_valid_i) begin
        upper_q <= !upper_q && !tx_last_i;
        if (upper_q) begin
          tx_tdata_o[63:32] <= turn_word(tx_word_i);
          tx_tkeep_o[7:4]   <= turn_keep(tx_keep_i);
        end else begin
          tx_tdata_o <= {32'd0, turn_word(tx_word_i)};
          tx_tkeep_o <= {4'd0, turn_keep(tx_keep_i)};
        end
      end
    end
  end

  logic second_q;  // lanes 7:4 of a received beat are on their way
  logic whole;     // this word is the beat's last

  assign whole       = second_q || rx_tkeep_i[7:4] == 0;
  assign rx_tready_o = whole;
  assign rx_last_o   = rx_tlast_i && whole;
  assign rx_word_o   = turn_word(second_q ? rx_tdata_i[63:32] : rx_tdata_i[31:0]);
  assign rx_keep_o   = turn_keep(second_q ? rx_tkeep_i[7:4] : rx_tkeep_i[3:0]);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) second_q <= 1'b0;
    else if (rx_tvalid_i) second_q <= !whole;
  end

endmodule

`default_nettype wire
