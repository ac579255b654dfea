// SPDX-License-Identifier: BSD-2-Clause
//
// The memory that the DUT reads from: commands in, a packet of data for each
// out, in order. The first beat comes Latency cycles behind its command at the
// earliest, with the bytes that memory holds in that cycle. A command of no
// bytes or over 2^31, or with the tag of one that has no answer yet, ends the
// simulation, and so does one that does not stay as it is while it is stalled.

`default_nettype none

module roceproof_memory_reader
  import roceproof_bridge_pkg::*;
#(
  parameter int          Index     = 0,
  parameter int unsigned DataWidth = 64,
  parameter int unsigned Latency   = 16
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [63:0]            seed_i,
  input  wire cycle_t                 cycle_i,
  input  wire logic [7:0]             stall_i,    // percent
  input  wire logic [7:0]             gap_i,      // percent
  input  wire logic                   command_valid_i,
  output logic                        command_ready_o,
  input  wire logic [127:0]           command_i,  // memory_command_t
  output logic [DataWidth-1:0]        tdata_o,
  output logic [DataWidth/8-1:0]      tkeep_o,
  output logic                        tvalid_o,
  output logic                        tlast_o,
  input  wire logic                   tready_i
);

  localparam int unsigned Lanes     = DataWidth / 8;

  command_t commands[$];
  cycle_t   due[$];
  int unsigned given_q;  // bytes of the first command

  logic open;

  roceproof_gate #(
    .Stream(StreamMemoryRead)
  ) u_command_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(stall_i),
    .draw_i   (1'b1),
    .open_o   (command_ready_o)
  );

  roceproof_gate #(
    .Stream(StreamMemoryReadData)
  ) u_data_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(gap_i),
    .draw_i   (1'b1),
    .open_o   (open)
  );

  roceproof_offer_check #(
    .Index(Index),
    .Name ("mrc"),
    .Width(128)
  ) u_command_check (
    .clk_i,
    .rst_ni,
    .valid_i(command_valid_i),
    .ready_i(command_ready_o),
    .data_i (command_i),
    .marks_i(1'b0)
  );

  task automatic offer();
    automatic chunk_t      data;
    automatic int unsigned left = commands[0].length - given_q;
    automatic int unsigned bytes = left < Lanes ? left : Lanes;
    roceproof_memory_read(
        port[Index], longint'(commands[0].address) + longint'({32'd0, given_q}), data, int'(bytes));
    tdata_o  <= data[DataWidth-1:0];
    tkeep_o  <= {DataWidth / 8{1'b1}} >> (Lanes - bytes);
    tlast_o  <= left == bytes;
    tvalid_o <= 1'b1;
    given_q  <= left == bytes ? 0 : given_q + bytes;
    if (left == bytes) begin
      void'(commands.pop_front());
      void'(due.pop_front());
    end
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      tvalid_o <= 1'b0;
      given_q  <= 0;
      commands.delete();
      due.delete();
    end else begin
      if (command_valid_i && command_ready_o) begin
        if (command_i[63:32] == '0) $fatal(1, "port %0d: a read of no bytes", Index);
        if (command_i[63:32] > MostBytes) $fatal(1, "port %0d: a read of over 2^31 bytes", Index);
        for (int i = 0; i < commands.size(); i++) begin
          if (commands[i].tag == command_i[31:16])
            $fatal(1, "port %0d: a read of tag %0d, as one that has no answer yet", Index,
                   command_i[31:16]);
        end
        commands.push_back(command_t'(command_i));
        due.push_back(cycle_i + cycle_t'(Latency));
      end
      if (tready_i) tvalid_o <= 1'b0;
      if (due.size() != 0 && due[0] <= cycle_i && (!tvalid_o || tready_i) && open) offer();
    end
  end

endmodule

`default_nettype wire
