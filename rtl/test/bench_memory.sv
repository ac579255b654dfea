// SPDX-License-Identifier: BSD-2-Clause
//
// The memory behind the responder's bench. A write is done, and logged as
//   X A BYTES  to address A
// latency_i cycles behind its last beat; a read, logged as
//   L A N      N bytes from address A on
// begins so long behind its command, and what is in the lanes behind its end has
// no meaning. With a chance of stall_i percent a stream pauses.

`default_nettype none

module bench_memory
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire int                     cycle_i,
  input  wire int                     log_file_i,
  input  wire int                     stall_i,
  input  wire int                     latency_i,
  output      logic                   busy_o,

  input  wire logic                   write_valid_i,
  output      logic                   write_ready_o,
  input  wire memory_command_t        write_i,
  input  wire logic [DataWidth-1:0]   write_tdata_i,
  input  wire logic [DataWidth/8-1:0] write_tkeep_i,
  input  wire logic                   write_tvalid_i,
  input  wire logic                   write_tlast_i,
  output      logic                   write_tready_o,
  output      logic                   done_valid_o,
  output      memory_done_t           done_o,

  input  wire logic                   read_valid_i,
  output      logic                   read_ready_o,
  input  wire memory_command_t        read_i,
  output      logic [DataWidth-1:0]   read_tdata_o,
  output      logic [DataWidth/8-1:0] read_tkeep_o,
  output      logic                   read_tvalid_o,
  input  wire logic                   read_tready_i
);

  localparam int Lanes = DataWidth / 8;

  byte             memory [longint];
  memory_command_t writes [$], reads [$];
  string           written [$], text = "";
  int              due [$], begins [$], offset = 0;
  int              waiting = 0;

  assign busy_o = write_valid_i || write_tvalid_i || read_valid_i || read_tvalid_o || waiting != 0;

  task automatic finish_write();
    automatic memory_command_t command = writes.pop_front();
    automatic string           data = written.pop_front();
    void'(due.pop_front());
    if (data.len() != 2 * int'(command.length)) $fatal(1, "FAIL: a write is not of its length");
    for (int i = 0; i < int'(command.length); i++) begin
      automatic string digits = data.substr(2 * i, 2 * i + 1);
      memory[longint'(command.address) + longint'(i)] = byte'(digits.atohex());
    end
    $fdisplay(log_file_i, "%0d X %0h %s", cycle_i, command.address, data);
    done_valid_o <= 1'b1;
    done_o       <= '{tag: command.tag, reserved: '0};
  endtask

  task automatic offer_data();
    automatic int left = int'(reads[0].length) - offset;
    for (int lane = 0; lane < Lanes; lane++) begin
      automatic longint at = longint'(reads[0].address) + longint'(offset) + longint'(lane);
      automatic byte    value = 8'd0;
      if (memory.exists(at) != 0) value = memory[at];
      if (lane >= left) value = byte'($urandom);
      read_tkeep_o[lane]      <= lane < left;
      read_tdata_o[8*lane+:8] <= value;
    end
    read_tvalid_o <= 1'b1;
    offset = offset + Lanes;
    if (left <= Lanes) begin
      void'(reads.pop_front());
      void'(begins.pop_front());
      offset = 0;
    end
  endtask

  always @(posedge clk_i) begin
    write_ready_o  <= int'($urandom % 100) >= stall_i;
    write_tready_o <= int'($urandom % 100) >= stall_i;
    read_ready_o   <= int'($urandom % 100) >= stall_i;
    done_valid_o   <= 1'b0;
    if (!rst_ni) begin
      read_tvalid_o <= 1'b0;
    end else begin
      if (write_valid_i && write_ready_o) writes.push_back(write_i);
      if (write_tvalid_i && write_tready_o) begin
        for (int lane = 0; lane < Lanes; lane++) begin
          if (write_tkeep_i[lane]) text = {text, $sformatf("%02x", write_tdata_i[8*lane+:8])};
        end
        if (write_tlast_i) begin
          written.push_back(text);
          due.push_back(cycle_i + latency_i);
          text = "";
        end
      end
      if (due.size() != 0 && due[0] <= cycle_i && writes.size() != 0) finish_write();

      if (read_valid_i && read_ready_o) begin
        $fdisplay(log_file_i, "%0d L %0h %0d", cycle_i, read_i.address, read_i.length);
        reads.push_back(read_i);
        begins.push_back(cycle_i + latency_i);
      end
      if (read_tready_i) read_tvalid_o <= 1'b0;
      if (begins.size() != 0 && begins[0] <= cycle_i && (!read_tvalid_o || read_tready_i)
          && int'($urandom % 100) >= stall_i) begin
        offer_data();
      end
    end
    waiting = due.size() + reads.size();
  end

endmodule

`default_nettype wire
