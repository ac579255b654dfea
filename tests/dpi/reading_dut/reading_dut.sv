// SPDX-License-Identifier: BSD-2-Clause
//
// A requester of WRITEs, READs and atomics on one queue pair of RC, as one
// process: it repeats nothing, and takes responses in order alone. It shows
// that the contract carries what it asks and what it is answered.

`default_nettype none

module reading_dut
  import roceproof_dut_pkg::*;
  import reading_pkg::*;
#(
  parameter int unsigned DataWidth = 64,
  parameter int unsigned ClockPs   = 6400
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [127:0]           port_gid_i,
  input  wire logic                   qpc_valid_i,
  output logic                        qpc_ready_o,
  input  wire qp_config_t             qpc_i,
  input  wire logic                   wr_valid_i,
  output logic                        wr_ready_o,
  input  wire work_request_t          wr_i,
  input  wire logic [DataWidth-1:0]   pl_tdata_i,
  input  wire logic [DataWidth/8-1:0] pl_tkeep_i,
  input  wire logic                   pl_tvalid_i,
  input  wire logic                   pl_tlast_i,
  output logic                        pl_tready_o,
  output logic                        cpl_valid_o,
  input  wire logic                   cpl_ready_i,
  output completion_t                 cpl_o,
  output logic      [DataWidth-1:0]   tx_tdata_o,
  output logic      [DataWidth/8-1:0] tx_tkeep_o,
  output logic                        tx_tvalid_o,
  output logic                        tx_tlast_o,
  output logic                        tx_tuser_o,
  input  wire logic                   tx_tready_i,
  input  wire logic [DataWidth-1:0]   rx_tdata_i,
  input  wire logic [DataWidth/8-1:0] rx_tkeep_i,
  input  wire logic                   rx_tvalid_i,
  input  wire logic                   rx_tlast_i,
  input  wire logic                   rx_tuser_i,
  output logic                        rx_tready_o,
  input  wire logic                   mr_valid_i,
  output logic                        mr_ready_o,
  input  wire memory_region_t         mr_i,
  input  wire logic                   rcv_valid_i,
  output logic                        rcv_ready_o,
  input  wire receive_t               rcv_i,
  output logic                        rcp_valid_o,
  input  wire logic                   rcp_ready_i,
  output receive_completion_t         rcp_o,
  output logic                        mwc_valid_o,
  input  wire logic                   mwc_ready_i,
  output memory_command_t             mwc_o,
  output logic      [DataWidth-1:0]   mwd_tdata_o,
  output logic      [DataWidth/8-1:0] mwd_tkeep_o,
  output logic                        mwd_tvalid_o,
  output logic                        mwd_tlast_o,
  input  wire logic                   mwd_tready_i,
  input  wire logic                   mdn_valid_i,
  input  wire memory_done_t           mdn_i
);

  localparam int Lanes = DataWidth / 8;

  typedef struct packed {
    logic [DataWidth-1:0] data;
    logic [Lanes-1:0]     keep;
    logic                 last;
  } beat_t;

  typedef beat_t beats_t[$];

  qp_config_t      qp;
  logic            is_active;
  logic [23:0]     next_psn;
  logic [15:0]     next_id;
  memory_region_t  regions[$];
  message_t        under_way[$];
  completion_t     completions[$];
  memory_command_t commands[$];
  beats_t          frames, writes;
  bytes_t          payload, received;
  work_request_t   work;
  logic            has_work, has_payload;
  logic [31:0]     written, done;
  string           fault;

  initial if ($value$plusargs("reading_fault=%s", fault) == 0) fault = "none";

  assign qpc_ready_o = 1'b1;
  assign mr_ready_o  = 1'b1;
  assign rx_tready_o = 1'b1;
  assign rcv_ready_o = 1'b1;
  assign rcp_valid_o = 1'b0;
  assign rcp_o       = '0;
  assign tx_tuser_o  = 1'b0;

  function automatic int mtu();
    return 128 << int'(qp.path_mtu);
  endfunction

  function automatic int packets_of(input logic [31:0] length);
    return length == 0 ? 1 : (int'(length) + mtu() - 1) / mtu();
  endfunction

  function automatic beats_t beats_of(input bytes_t bytes);
    beats_of = {};
    for (int start = 0; start < bytes.size(); start += Lanes) begin
      automatic beat_t beat = '0;
      for (int lane = 0; lane < Lanes && start + lane < bytes.size(); lane++) begin
        beat.data[8*lane+:8] = bytes[start+lane];
        beat.keep[lane]      = 1'b1;
      end
      beat.last = start + Lanes >= bytes.size();
      beats_of.push_back(beat);
    end
  endfunction

  task automatic put_packet(input logic [7:0] opcode, input logic [23:0] psn, input logic asks,
                            input bytes_t behind);
    automatic int     pad = (4 - behind.size() % 4) % 4;
    automatic int     udp = 8 + 12 + behind.size() + pad + Icrc;
    automatic int     sum = 0;
    automatic bytes_t ip = big_endian(256'({8'h45, qp.traffic_class, 16'(Ip + udp), next_id,
                                            16'h4000, qp.hop_limit, 8'h11, 16'h0000,
                                            port_gid_i[31:0], qp.remote_gid[31:0]}), Ip);
    automatic bytes_t frame = big_endian(256'({qp.remote_mac, port_mac_i, 16'h0800}), Ethernet);
    for (int i = 0; i < Ip; i += 2) sum += int'({ip[i], ip[i+1]});
    sum = (sum & 'hFFFF) + (sum >> 16);
    sum = ~((sum & 'hFFFF) + (sum >> 16));
    {ip[10], ip[11]} = sum[15:0];
    frame = {frame, ip, big_endian(256'({qp.udp_sport, 16'd4791, 16'(udp), 16'd0}), 8),
             big_endian(256'({opcode, 2'b01, 2'(pad), 4'h0, 16'hFFFF, 8'h00, qp.remote_qpn[23:0],
                         asks, 7'h00, psn}), 12), behind};
    for (int i = 0; i < pad; i++) frame.push_back(8'h00);
    frame = {frame, big_endian(256'(icrc_of(frame)), Icrc)};
    frames = {frames, beats_of(frame)};
    next_id++;
  endtask

  // What the work at hand asks for leaves, all of it.
  task automatic send();
    automatic message_t message = '0;
    automatic bytes_t reth = big_endian(256'({work.remote_addr, work.rkey, work.length}), 16);
    message.work     = work;
    message.first    = next_psn;
    message.packets  = packets_of(work.length);
    message.syndrome = 8'hFF;
    if (is_answered(work.operation)) message.operands = number_of(payload);
    case (work.operation)
      OpRead: put_packet(ReadRequest, next_psn, 1'b1, reth);
      OpCmpSwap, OpFetchAdd: begin
        message.packets = 1;
        if (fault == "operands")
          {message.operands.compare, message.operands.swap_or_add}
              = {message.operands.swap_or_add, message.operands.compare};
        put_packet(work.operation == OpCmpSwap ? CompareSwap : FetchAdd, next_psn, 1'b1,
                   big_endian(256'({work.remote_addr, work.rkey, message.operands.swap_or_add,
                               message.operands.compare}), 28));
      end
      default:
      for (int i = 0; i < int'(message.packets); i++) begin
        automatic logic   is_last = i == int'(message.packets) - 1;
        automatic bytes_t data = part_of(payload, i * mtu(),
                                         is_last ? int'(work.length) - i * mtu() : mtu());
        put_packet(i == 0 ? is_last ? WriteOnly : WriteFirst : is_last ? WriteLast : WriteMiddle,
                   next_psn + 24'(i), is_last, i == 0 ? {reth, data} : data);
      end
    endcase
    next_psn += message.packets[23:0];
    under_way.push_back(message);
  endtask

  task automatic end_with(input work_request_t of, input status_e status,
                          input logic [7:0] syndrome);
    automatic completion_t completion = '{wr_id: of.wr_id, qpn: of.qpn, status: status,
                                          syndrome: syndrome, reserved0: '0};
    completions.push_back(completion);
  endtask

  task automatic begin_work();
    automatic status_e refused = !is_active ? StatusLocQpOpErr
        : work.length > 32'h8000_0000 ? StatusLocLenErr
        : work.operation == OpWrite || is_answered(work.operation) ? StatusSuccess
        : StatusLocQpOpErr;
    automatic int      reading = 0;
    for (int i = 0; i < under_way.size(); i++)
      if (is_answered(under_way[i].work.operation) && !under_way[i].has_ended) reading++;
    if (refused == StatusSuccess && is_answered(work.operation)
        && reading >= int'(qp.max_rd_atomic)) return;
    if (refused == StatusSuccess) send();
    else end_with(work, refused, 8'hFF);
    has_work    = 1'b0;
    has_payload = 1'b0;
    payload.delete();
  endtask

  // Everything of WRITEs up to that PSN has arrived; what is answered with data waits for it.
  task automatic acknowledge(input logic [23:0] psn);
    for (int i = 0; i < under_way.size(); i++) begin
      automatic logic [23:0] behind = psn - (under_way[i].first + under_way[i].packets[23:0] - 1);
      if (behind[23]) return;
      if (is_answered(under_way[i].work.operation)) begin
        if (!under_way[i].has_ended) return;
      end else begin
        under_way[i].has_ended = 1'b1;
      end
    end
  endtask

  task automatic refuse(input logic [23:0] psn, input logic [7:0] syndrome);
    acknowledge(psn - 1);
    for (int i = 0; i < under_way.size(); i++)
      if (!under_way[i].has_ended) begin
        under_way[i].has_ended = 1'b1;
        under_way[i].status    = is_active ? status_of(syndrome) : StatusWrFlushErr;
        if (is_active) under_way[i].syndrome = syndrome;
        is_active = 1'b0;
      end
  endtask

  // Data of an answer go to memory. Returns whether they may.
  function automatic logic put_memory(input message_t message, input int at, input bytes_t data);
    for (int i = 0; i < regions.size(); i++)
      if (regions[i].lkey == message.operands.lkey) begin
        automatic logic [63:0]     place = message.operands.address - regions[i].va + 64'(at);
        automatic memory_command_t command;
        if (place + 64'(data.size()) > regions[i].length) return 1'b0;
        if (data.size() == 0) return 1'b1;
        if (fault == "place") place += 8;
        command = '{address: regions[i].base + place, length: 32'(data.size()),
                    tag: written[15:0], reserved: '0};
        commands.push_back(command);
        writes = {writes, beats_of(data)};
        written++;
        return 1'b1;
      end
    return 1'b0;
  endfunction

  // A response with data, which has to be the next of the oldest message that waits for one.
  task automatic answer(input logic [7:0] opcode, input logic [23:0] psn, input bytes_t data);
    for (int i = 0; i < under_way.size(); i++)
      if (is_answered(under_way[i].work.operation) && !under_way[i].has_ended) begin
        automatic message_t   message = under_way[i];
        automatic int         place = int'(message.came) * mtu();
        automatic logic       is_last = message.came + 1 == message.packets;
        automatic logic       is_atomic = message.work.operation != OpRead;
        automatic int         due = is_last ? int'(message.work.length) - place : mtu();
        automatic logic [7:0] wanted = is_atomic ? AtomicAcknowledge
            : message.came == 0 ? is_last ? ReadOnly : ReadFirst : is_last ? ReadLast : ReadMiddle;
        if (opcode != wanted || data.size() != (is_atomic ? 8 : due)
            || psn != message.first + message.came[23:0]) return;
        acknowledge(message.first - 1);
        if (is_atomic) data.reverse();
        if (!put_memory(message, place, data)) under_way[i].status = StatusLocProtErr;
        under_way[i].writes    = written;
        under_way[i].came      = message.came + 1;
        under_way[i].has_ended = is_last;
        return;
      end
  endtask

  // Who has this address, and is it awake.
  task automatic greet(input bytes_t frame);
    automatic bytes_t own     = big_endian(256'(port_mac_i), 6);
    automatic bytes_t address = big_endian(256'(port_gid_i[31:0]), 4);
    automatic bytes_t asker = part_of(frame, 6, 6);
    if ({frame[12], frame[13], frame[21]} == 24'h080601
        && part_of(frame, 38, 4) == address) begin
      frame = {asker, own, part_of(frame, 12, 8), 8'h00, 8'h02, own, address,
               part_of(frame, 22, 10), part_of(frame, 42, frame.size() - 42)};
      frames = {frames, beats_of(frame)};
    end else if ({frame[12], frame[13], frame[23], frame[34]} == 32'h08000108
                 && part_of(frame, 30, 4) == address) begin
      // Swapped addresses leave the header's sum alone; the type has become 0.
      automatic logic [16:0] sum = {1'b0, frame[36], frame[37]} + 17'h0800;
      sum   = {1'b0, sum[15:0]} + 17'(sum[16]);
      frame = {asker, own, part_of(frame, 12, 14), address, part_of(frame, 26, 4), 8'h00,
               frame[35], sum[15:8], sum[7:0], part_of(frame, 38, frame.size() - 38)};
      frames = {frames, beats_of(frame)};
    end
  endtask

  task automatic hear();
    automatic bytes_t      frame = received;
    automatic int          stop, start;
    automatic logic [23:0] psn;
    received.delete();
    if (frame.size() < Behind) return;
    if ({frame[12], frame[13], frame[14]} != 24'h080045 || frame[Ethernet+9] != 8'h11) begin
      greet(frame);
      return;
    end
    if (frame.size() < Behind + Icrc || number_at(frame, Bth - 6, 2) != 4791) return;
    stop = Ethernet + int'(number_at(frame, Ethernet + 2, 2)) - Icrc;
    if (stop < Behind || stop + Icrc > frame.size()) return;
    if (number_at(frame, stop, Icrc) != 64'(icrc_of(part_of(frame, 0, stop)))) return;
    if (!is_active || number_at(frame, Bth + 5, 3) != 64'(qp.local_qpn)) return;
    psn   = 24'(number_at(frame, Bth + 9, 3));
    start = frame[Bth] == ReadMiddle ? Behind : Behind + 4;
    stop -= int'(frame[Bth+1][5:4]);
    if (stop < start) return;
    case (frame[Bth])
      Acknowledge: if (frame[Behind][7:5] == 3'd0) acknowledge(psn);
                   else refuse(psn, frame[Behind]);
      ReadFirst, ReadMiddle, ReadLast, ReadOnly, AtomicAcknowledge:
        answer(frame[Bth], psn, part_of(frame, start, stop - start));
      default: ;
    endcase
  endtask

  task automatic configure();
    is_active = qpc_i.command == QpActivate;
    qp        = qpc_i;
    next_psn  = qpc_i.sq_psn[23:0];
    next_id   = qpc_i.ip_id;
    under_way.delete();
  endtask

  task automatic learn();
    for (int i = 0; i < regions.size(); i++)
      if (regions[i].lkey == mr_i.lkey) regions.delete(i);
    if (mr_i.command == RegionRegister) regions.push_back(mr_i);
  endtask

  task automatic complete();
    while (under_way.size() != 0 && under_way[0].has_ended
           && signed'(done - under_way[0].writes) >= 0) begin
      automatic message_t message = under_way.pop_front();
      end_with(message.work, message.status, message.syndrome);
    end
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      is_active   = 1'b0;
      has_work    = 1'b0;
      has_payload = 1'b0;
      written     = '0;
      done        = '0;
      wr_ready_o   <= 1'b0;
      pl_tready_o  <= 1'b0;
      cpl_valid_o  <= 1'b0;
      tx_tvalid_o  <= 1'b0;
      mwc_valid_o  <= 1'b0;
      mwd_tvalid_o <= 1'b0;
    end else begin
      if (qpc_valid_i) configure();
      if (mr_valid_i) learn();
      if (mdn_valid_i) done++;
      if (rx_tvalid_i) begin
        for (int lane = 0; lane < Lanes; lane++)
          if (rx_tkeep_i[lane]) received.push_back(rx_tdata_i[8*lane+:8]);
        if (rx_tlast_i && rx_tuser_i) received.delete();
        else if (rx_tlast_i) hear();
      end
      if (wr_valid_i && wr_ready_o) begin
        work        = wr_i;
        has_work    = 1'b1;
        has_payload = wr_i.length == 0 && !is_answered(wr_i.operation);
      end
      if (pl_tvalid_i && pl_tready_o) begin
        for (int lane = 0; lane < Lanes; lane++)
          if (pl_tkeep_i[lane]) payload.push_back(pl_tdata_i[8*lane+:8]);
        has_payload = pl_tlast_i;
      end
      if (has_work && has_payload) begin_work();
      complete();
      wr_ready_o  <= !has_work;
      pl_tready_o <= has_work && !has_payload;
      if (!cpl_valid_o || cpl_ready_i) begin
        cpl_valid_o <= completions.size() != 0;
        if (completions.size() != 0) begin
          automatic completion_t completion = completions.pop_front();
          cpl_o <= completion;
        end
      end
      if (!tx_tvalid_o || tx_tready_i) begin
        tx_tvalid_o <= frames.size() != 0;
        if (frames.size() != 0) begin
          automatic beat_t beat = frames.pop_front();
          {tx_tdata_o, tx_tkeep_o, tx_tlast_o} <= beat;
        end
      end
      if (!mwc_valid_o || mwc_ready_i) begin
        mwc_valid_o <= commands.size() != 0;
        if (commands.size() != 0) begin
          automatic memory_command_t command = commands.pop_front();
          mwc_o <= command;
        end
      end
      if (!mwd_tvalid_o || mwd_tready_i) begin
        mwd_tvalid_o <= writes.size() != 0;
        if (writes.size() != 0) begin
          automatic beat_t beat = writes.pop_front();
          {mwd_tdata_o, mwd_tkeep_o, mwd_tlast_o} <= beat;
        end
      end
    end
  end

endmodule

`default_nettype wire
