// SPDX-License-Identifier: BSD-2-Clause
//
// The responder behind the receive path's first stages, with a memory and a
// script (+script=): what it names is done in order, a line each,
//   C RECORD   a QP configuration    M RECORD   a memory region
//   R RECORD   a receive             F N BYTES  a frame of N bytes
//   P N        wait N cycles         I          wait until nothing moves
// and what the responder does is written to +log=, behind the cycle:
//   T BYTES    a frame left          K RECORD   a receive completed
//   X A BYTES  a write to address A is done
//   L A N      N bytes from address A on are read
//   H          a QP configuration or a memory region was taken
//   S N        at the end: in N cycles a frame had to wait
// +gap=, +tx_stall=, +cpl_stall=, +mem_stall=: chance in percent of a pause;
// +mem_latency=: cycles from a write's last beat until it is done.

`default_nettype none

module responder_tb
  import roceproof_dut_pkg::*;
#(
  parameter int unsigned DataWidth = 64
);

  localparam logic [47:0] PortMac = 48'h020000000002;
  localparam logic [31:0] PortIp  = {8'd192, 8'd168, 8'd1, 8'd2};
  localparam int unsigned Lanes    = DataWidth / 8;
  localparam int unsigned BeatBits = 16 - $clog2(Lanes);
  localparam int          MaxBytes = 1 << 14;

  logic clk;
  logic rst_n = 1'b0;
  int   script, log_file, cycle = 0, stalled = 0, quiet = 0;
  int   gap = 0, tx_stall = 0, cpl_stall = 0, mem_stall = 0, mem_latency = 0;

  initial begin
    clk = 1'b0;
    forever #5 clk = !clk;
  end

  // The device under test.
  logic                 qpc_valid = 1'b0, region_valid = 1'b0, receive_valid = 1'b0;
  logic                 qpc_ready, region_ready, receive_ready, cpl_valid, cpl_ready;
  qp_config_t           qpc;
  memory_region_t       region;
  receive_t             receive;
  receive_completion_t  cpl;
  logic [DataWidth-1:0] rx_tdata, tx_tdata, mem_tdata;
  logic [Lanes-1:0]     rx_tkeep, tx_tkeep, mem_tkeep;
  logic                 rx_tvalid = 1'b0, rx_tlast, rx_tready;
  logic                 tx_tvalid, tx_tlast, tx_tready, mem_tvalid, mem_tlast, mem_tready;
  logic                 write_valid, write_ready, done_valid;
  memory_command_t      write;
  memory_done_t         done;
  logic                 read_valid, read_ready, data_tvalid, data_tready;
  memory_command_t      read;
  logic [DataWidth-1:0] data_tdata;
  logic [Lanes-1:0]     data_tkeep;

  logic                       window_valid, window_last, discard, parsed_valid, parsed_last;
  logic [DataWidth-1:0]       window_data;
  logic [BeatBits-1:0]        window_beat;
  rx_header_pkg::window_t     window;
  icrc_pkg::position_t        length;
  rx_header_pkg::frame_kind_t kind;
  rx_header_pkg::frame_header_t header;
  roce_pkg::ipv6_t            ipv6;
  logic                       verdict_valid, is_roce, icrc_ok;

  rx_window #(.DataWidth(DataWidth)) u_window (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(rx_tvalid && rx_tready), .tdata_i(rx_tdata),
    .tkeep_i(rx_tkeep), .tlast_i(rx_tlast), .tuser_i(1'b0), .valid_o(window_valid),
    .data_o(window_data), .last_o(window_last), .beat_o(window_beat), .window_o(window),
    .length_o(length), .discard_o(discard));

  rx_parser #(.DataWidth(DataWidth)) u_parser (
    .clk_i(clk), .rst_ni(rst_n), .port_mac_i(PortMac), .port_gid_i({80'd0, 16'hFFFF, PortIp}),
    .port_ipv6_i('0),
    .valid_i(window_valid), .data_i(window_data), .last_i(window_last), .beat_i(window_beat),
    .window_i(window), .length_i(length), .discard_i(discard), .valid_o(parsed_valid),
    .data_o(), .last_o(parsed_last), .beat_o(), .kind_o(kind), .header_o(header),
    .ipv6_o(ipv6));

  icrc_check #(.DataWidth(DataWidth)) u_icrc (
    .clk_i(clk), .rst_ni(rst_n), .valid_i(window_valid), .data_i(window_data),
    .last_i(window_last), .beat_i(window_beat), .window_i(window), .length_i(length),
    .discard_i(discard), .verdict_valid_o(verdict_valid), .is_roce_o(is_roce), .ok_o(icrc_ok));

  responder #(.DataWidth(DataWidth), .Serves('{ipv6: 1'b0, vlan: 1'b0, default: 1'b1})) u_dut (
    .clk_i(clk), .rst_ni(rst_n), .port_mac_i(PortMac), .port_ipv4_i(PortIp),
    .port_ipv6_i('0),
    .qpc_valid_i(qpc_valid), .qpc_ready_o(qpc_ready), .config_i(qpc),
    .region_valid_i(region_valid), .region_ready_o(region_ready), .region_i(region),
    .receive_valid_i(receive_valid), .receive_ready_o(receive_ready), .receive_i(receive),
    .completion_valid_o(cpl_valid), .completion_ready_i(cpl_ready), .completion_o(cpl),
    .frame_taken_i(rx_tvalid && rx_tready && rx_tlast), .ready_o(rx_tready),
    .valid_i(window_valid), .data_i(window_data), .last_i(window_last), .beat_i(window_beat),
    .window_i(window), .parsed_valid_i(parsed_valid), .parsed_last_i(parsed_last),
    .kind_i(kind), .header_i(header), .ipv6_i(ipv6), .verdict_valid_i(verdict_valid),
    .icrc_ok_i(is_roce && icrc_ok),
    .write_valid_o(write_valid), .write_ready_i(write_ready), .write_o(write),
    .write_tdata_o(mem_tdata), .write_tkeep_o(mem_tkeep), .write_tvalid_o(mem_tvalid),
    .write_tlast_o(mem_tlast), .write_tready_i(mem_tready),
    .done_valid_i(done_valid), .done_i(done),
    .read_valid_o(read_valid), .read_ready_i(read_ready), .read_o(read),
    .read_tdata_i(data_tdata), .read_tkeep_i(data_tkeep), .read_tvalid_i(data_tvalid),
    .read_tready_o(data_tready),
    .m_tdata_o(tx_tdata), .m_tkeep_o(tx_tkeep), .m_tvalid_o(tx_tvalid), .m_tlast_o(tx_tlast),
    .m_tag_o(), .m_tready_i(tx_tready));

  // The script: a step is read between two clock edges once the one before is
  // taken, and offered at the next.
  typedef enum logic [2:0] {
    StepConfigure, StepRegion, StepReceive, StepFrame, StepPause, StepWait, StepEnd
  } step_e;

  step_e          step;
  qp_config_t     qp_record;
  memory_region_t region_record;
  receive_t       receive_record;
  logic [7:0]     frame [MaxBytes];
  int             size = 0, read_steps = 0;

  task automatic read_step();
    string what;
    int    got;
    if (script == 0) $fatal(1, "FAIL: no script");
    got = $fscanf(script, " %s", what);
    if (got != 1) what = "";
    case (what)
      "": step = StepEnd;
      "C": begin
        step = StepConfigure;
        got  = $fscanf(script, "%h", qp_record);
      end
      "M": begin
        step = StepRegion;
        got  = $fscanf(script, "%h", region_record);
      end
      "R": begin
        step = StepReceive;
        got  = $fscanf(script, "%h", receive_record);
      end
      "F": begin
        step = StepFrame;
        got  = $fscanf(script, "%d", size);
        for (int i = 0; i < size; i++) got &= $fscanf(script, "%h", frame[i]);
      end
      "P": begin
        step = StepPause;
        got  = $fscanf(script, "%d", size);
      end
      "I": step = StepWait;
      default: got = 0;
    endcase
    if (step != StepEnd && got != 1) $fatal(1, "FAIL: cannot read the script at %s", what);
    read_steps = read_steps + 1;
  endtask

  always @(negedge clk) if (rst_n && read_steps == steps) read_step();

  int   steps = 0, position = 0;
  logic busy;
  assign busy = (rx_tvalid && !rx_tready) || (qpc_valid && !qpc_ready)
      || (region_valid && !region_ready) || (receive_valid && !receive_ready);

  task automatic offer_beat();
    int                   kept = size - position < int'(Lanes) ? size - position : int'(Lanes);
    logic [DataWidth-1:0] data = {DataWidth/32{$urandom}};
    for (int lane = 0; lane < kept; lane++) data[8*lane+:8] = frame[position+lane];
    position = position + kept;
    rx_tvalid <= 1'b1;
    rx_tdata  <= data;
    rx_tkeep  <= {Lanes{1'b1}} >> (int'(Lanes) - kept);
    rx_tlast  <= position >= size;
  endtask

  always @(posedge clk) begin
    if (rx_tready) rx_tvalid <= 1'b0;
    if (qpc_ready) qpc_valid <= 1'b0;
    if (region_ready) region_valid <= 1'b0;
    if (receive_ready) receive_valid <= 1'b0;

    if (rst_n && !busy && read_steps != steps) begin
      case (step)
        StepConfigure: begin
          qpc       <= qp_record;
          qpc_valid <= 1'b1;
          steps = steps + 1;
        end
        StepRegion: begin
          region       <= region_record;
          region_valid <= 1'b1;
          steps = steps + 1;
        end
        StepReceive: begin
          receive       <= receive_record;
          receive_valid <= 1'b1;
          steps = steps + 1;
        end
        StepFrame: if (int'($urandom % 100) >= gap) begin
          offer_beat();
          if (position >= size) begin
            position = 0;
            steps    = steps + 1;
          end
        end
        StepPause: begin
          position = position + 1;
          if (position >= size) begin
            position = 0;
            steps    = steps + 1;
          end
        end
        StepWait: if (quiet > 200 + mem_latency) steps = steps + 1;
        default: if (quiet > 200 + mem_latency) begin
          $fdisplay(log_file, "%0d S %0d", cycle, stalled);
          $display("PASS");
          $finish;
        end
      endcase
    end
  end

  initial begin
    string path;
    if (!$value$plusargs("gap=%d", gap)) gap = 0;
    if (!$value$plusargs("tx_stall=%d", tx_stall)) tx_stall = 0;
    if (!$value$plusargs("cpl_stall=%d", cpl_stall)) cpl_stall = 0;
    if (!$value$plusargs("mem_stall=%d", mem_stall)) mem_stall = 0;
    if (!$value$plusargs("mem_latency=%d", mem_latency)) mem_latency = 0;
    if (!$value$plusargs("script=%s", path)) $fatal(1, "FAIL: no +script");
    script = $fopen(path, "r");
    if (!$value$plusargs("log=%s", path)) $fatal(1, "FAIL: no +log");
    log_file = $fopen(path, "w");
    repeat (4) @(posedge clk);
    rst_n = 1'b1;
  end

  logic memory_busy;

  bench_memory #(
    .DataWidth(DataWidth)
  ) u_memory (
    .clk_i(clk), .rst_ni(rst_n), .cycle_i(cycle), .log_file_i(log_file), .stall_i(mem_stall),
    .latency_i(mem_latency), .busy_o(memory_busy),
    .write_valid_i(write_valid), .write_ready_o(write_ready), .write_i(write),
    .write_tdata_i(mem_tdata), .write_tkeep_i(mem_tkeep), .write_tvalid_i(mem_tvalid),
    .write_tlast_i(mem_tlast), .write_tready_o(mem_tready), .done_valid_o(done_valid),
    .done_o(done), .read_valid_i(read_valid), .read_ready_o(read_ready), .read_i(read),
    .read_tdata_o(data_tdata), .read_tkeep_o(data_tkeep), .read_tvalid_o(data_tvalid),
    .read_tready_i(data_tready));

  // What leaves.
  string sent = "";

  always @(posedge clk) begin
    cycle     = cycle + 1;
    tx_tready <= int'($urandom % 100) >= tx_stall;
    cpl_ready <= int'($urandom % 100) >= cpl_stall;
    quiet     = rx_tvalid || tx_tvalid || cpl_valid || memory_busy || !rst_n ? 0 : quiet + 1;
    if (rx_tvalid && !rx_tready) stalled = stalled + 1;

    if (rst_n && tx_tvalid && tx_tready) begin
      for (int lane = 0; lane < int'(Lanes); lane++) begin
        if (tx_tkeep[lane]) sent = {sent, $sformatf("%02x", tx_tdata[8*lane+:8])};
      end
      if (tx_tlast) begin
        $fdisplay(log_file, "%0d T %s", cycle, sent);
        sent = "";
      end
    end
    if (rst_n && ((qpc_valid && qpc_ready) || (region_valid && region_ready))) begin
      $fdisplay(log_file, "%0d H", cycle);
    end
    if (rst_n && cpl_valid && cpl_ready) $fdisplay(log_file, "%0d K %h", cycle, cpl);
  end

endmodule

`default_nettype wire
