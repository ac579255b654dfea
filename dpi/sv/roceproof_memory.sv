// SPDX-License-Identifier: BSD-2-Clause
//
// The memory that the DUT writes to: commands and data in, dones out, in order.
// A write takes effect Latency cycles behind its last beat at the earliest, at once with its
// done, so that what is said too early can be seen to be wrong. A packet of
// data that is not as long as its command ends the simulation, and so do a
// command of no bytes or over 2^31 or with the tag of one that is not done, a
// beat with holes, and an offer that does not stay as it is while it is stalled.

`default_nettype none

module roceproof_memory
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
  input  wire logic [7:0]             lag_i,      // percent
  input  wire logic                   command_valid_i,
  output logic                        command_ready_o,
  input  wire logic [127:0]           command_i,  // memory_command_t
  input  wire logic [DataWidth-1:0]   tdata_i,
  input  wire logic [DataWidth/8-1:0] tkeep_i,
  input  wire logic                   tvalid_i,
  input  wire logic                   tlast_i,
  output logic                        tready_o,
  output logic                        done_valid_o,
  output logic [31:0]                 done_o      // memory_done_t
);

  localparam int          Lanes     = DataWidth / 8;

  typedef struct packed {
    logic [DataWidth-1:0] data;
    int                   bytes;
  } beat_t;

  command_t commands[$];
  beat_t    beats[$];
  cycle_t   due[$];   // of packets whose last beat has come
  int       counts[$];  // and how many beats they have
  int       beats_q;  // of the packet that is coming

  roceproof_gate #(
    .Stream(StreamMemoryWrite)
  ) u_command_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(stall_i),
    .draw_i   (1'b1),
    .open_o   (command_ready_o)
  );

  roceproof_gate #(
    .Stream(StreamMemoryWriteData)
  ) u_data_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(stall_i),
    .draw_i   (1'b1),
    .open_o   (tready_o)
  );

  logic ends;

  roceproof_gate #(
    .Stream(StreamMemoryDone)
  ) u_done_gate (
    .clk_i,
    .rst_ni,
    .seed_i,
    .percent_i(lag_i),
    .draw_i   (1'b1),
    .open_o   (ends)
  );

  roceproof_offer_check #(
    .Index(Index),
    .Name ("mwc"),
    .Width(128)
  ) u_command_check (
    .clk_i,
    .rst_ni,
    .valid_i(command_valid_i),
    .ready_i(command_ready_o),
    .data_i (command_i),
    .marks_i(1'b0)
  );

  roceproof_offer_check #(
    .Index    (Index),
    .Name     ("mwd"),
    .Width    (DataWidth),
    .MarkWidth(Lanes + 1)
  ) u_data_check (
    .clk_i,
    .rst_ni,
    .valid_i(tvalid_i),
    .ready_i(tready_o),
    .data_i (tdata_i),
    .marks_i({tkeep_i, tlast_i})
  );

  function automatic void write(input longint first, input int unsigned length, input int count);
    longint      address = first;
    int unsigned left = length;
    for (int i = 0; i < count; i++) begin
      automatic beat_t beat = beats.pop_front();
      roceproof_memory_write(port[Index], address, chunk_t'(beat.data), beat.bytes);
      address += longint'(beat.bytes);
      left    -= beat.bytes;
    end
    if (left != 0) $fatal(1, "port %0d: the data of a write are not as long as it says", Index);
  endfunction

  // A low run of lanes, at least one, all of them where the packet goes on.
  function automatic logic is_kept(input logic [Lanes-1:0] keep, input logic is_last);
    return keep[0] && (keep & (keep + 1'b1)) == '0 && (is_last || &keep);
  endfunction

  always @(posedge clk_i) begin
    done_valid_o <= 1'b0;
    if (!rst_ni) begin
      beats_q <= 0;
      commands.delete();
      beats.delete();
      due.delete();
      counts.delete();
    end else begin
      if (command_valid_i && command_ready_o) begin
        if (command_i[63:32] == '0) $fatal(1, "port %0d: a write of no bytes", Index);
        if (command_i[63:32] > MostBytes) $fatal(1, "port %0d: a write of over 2^31 bytes", Index);
        for (int i = 0; i < commands.size(); i++) begin
          if (commands[i].tag == command_i[31:16])
            $fatal(1, "port %0d: a write of tag %0d, as one that is not done", Index,
                   command_i[31:16]);
        end
        commands.push_back(command_t'(command_i));
      end
      if (tvalid_i && tready_o) begin
        automatic beat_t beat;
        if (!is_kept(tkeep_i, tlast_i))
          $fatal(1, "port %0d: mwd_tkeep is no run from bit 0, or not full before tlast", Index);
        beat.data  = tdata_i;
        beat.bytes = $countones(tkeep_i);
        beats.push_back(beat);
        beats_q <= tlast_i ? 0 : beats_q + 1;
        if (tlast_i) begin
          due.push_back(cycle_i + cycle_t'(Latency));
          counts.push_back(beats_q + 1);
        end
      end
      if (due.size() != 0 && commands.size() != 0 && due[0] <= cycle_i && ends) begin
        automatic command_t command = commands.pop_front();
        void'(due.pop_front());
        write(longint'(command.address), command.length, counts.pop_front());
        done_valid_o <= 1'b1;
        done_o       <= {command.tag, 16'd0};
      end
    end
  end

endmodule

`default_nettype wire
