// SPDX-License-Identifier: BSD-2-Clause
//
// Reads a message of connection management byte by byte out of the frame that holds it.

`default_nettype none

module be_mad_reader
  import be_pkg::*;
(
  input  wire logic   clk_i,
  input  wire logic   rst_ni,
  input  wire logic   start_i,  // it may be read from the next cycle on
  output logic        done_o,   // mad_o has it, from now on
  output mad_t        mad_o,
  output logic [13:0] index_o,  // byte of the frame that is wanted
  input  wire logic [7:0] byte_i
);

  localparam logic [7:0] Last = 8'd119;

  logic         reads_q;
  logic [7:0]   count_q;   // byte of the message
  logic [127:0] read;      // the last 16 bytes read
  logic [119:0] read_q;

  assign index_o = 14'd62 + 14'(count_q);
  assign read    = {read_q, byte_i};

  always_ff @(posedge clk_i) begin
    if (reads_q) begin
      read_q <= read[119:0];
      unique case (count_q)
        8'd3:   mad_o.start       <= read[31:0];
        8'd15:  mad_o.transaction <= read[63:0];
        8'd17:  mad_o.attribute   <= read[15:0];
        8'd27:  mad_o.local_id    <= read[31:0];
        8'd31:  mad_o.remote_id   <= read[31:0];
        8'd34:  mad_o.goodbye_qpn <= read[23:0];
        8'd38:  mad_o.reply_qpn   <= read[23:0];
        8'd39:  mad_o.service     <= read[63:0];
        8'd46:  mad_o.reply_psn   <= read[23:0];
        8'd58:  mad_o.qpn         <= read[23:0];
        8'd67:  mad_o.transport   <= read[2:1];
        8'd70:  mad_o.psn         <= read[23:0];
        8'd74:  mad_o.mtu         <= read[7:4];
        8'd95:  mad_o.ip          <= read[31:0];
        8'd111: mad_o.gid         <= read;
        8'd116: mad_o.tos         <= read[7:0];
        8'd117: mad_o.ttl         <= read[7:0];
        8'd119: mad_o.ack_timeout <= read[7:3];
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    done_o <= 1'b0;
    if (!rst_ni) begin
      reads_q <= 1'b0;
    end else if (start_i) begin
      reads_q <= 1'b1;
      count_q <= '0;
    end else if (reads_q) begin
      count_q <= count_q + 8'd1;
      reads_q <= count_q != Last;
      done_o  <= count_q == Last;
    end
  end

endmodule

`default_nettype wire
