// SPDX-License-Identifier: BSD-2-Clause
//
// Cuts work requests, one after the other, into packets: opcode, PSN, IP ID,
// extension headers and payload length of each. A request that cannot be sent
// is refused with a status, sends nothing and consumes no PSN; its payload is
// discarded up to tlast, whatever its length said. A QP that fails or is
// reconfigured while one of its messages is being sent sends no further packet
// of it; the rest of the payload is discarded.
//
// An RC message first asks the ACK tracker for a place (start_*) and waits
// there while too much is outstanding. A READ or an atomic is one packet, uses as
// many PSNs as its answer, and waits while too many of its QP are under way. A
// datagram goes to the queue pair that its work names, at the QP's peer.

`default_nettype none

module tx_segmenter
  import roceproof_dut_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned DataWidth  = 64,
  parameter int unsigned Qps        = 16,
  parameter int unsigned Recovery   = 0,
  parameter int unsigned Reads      = 0,
  parameter int unsigned IndexBits  = $clog2(Qps),
  parameter int unsigned OffsetBits = $clog2(DataWidth / 8)
) (
  input  wire logic                  clk_i,
  input  wire logic                  rst_ni,
  input  wire logic                  hold_i,           // take no work request
  input  wire logic                  wr_valid_i,
  output logic                       wr_ready_o,
  input  wire work_request_t         wr_i,
  input  wire operands_t             operands_i,       // of a READ or an atomic
  input  wire logic                  stale_i,          // it was taken before its QP last started
  // The QP of the current request; what is looked up stays until the next lookup.
  output logic                       lookup_o,
  output logic [IndexBits-1:0]       lookup_index_o,
  input  wire sender_t               sender_i,
  // A QP (re)starts, or has failed.
  input  wire logic                  configure_i,
  input  wire qp_config_t            config_i,
  input  wire logic                  flushes_i,        // messages of a failed one: refuse none meanwhile
  input  wire logic                  failed_i,
  input  wire logic [IndexBits-1:0]  failed_index_i,
  // A place for an RC message.
  output logic                       start_valid_o,
  input  wire logic                  start_ready_i,
  output message_start_t             start_o,
  input  wire logic                  start_refused_i,
  input  wire generation_t           start_generation_i,
  // With its start, a READ or an atomic; and whether there is room for one more.
  output logic                       asks_o,
  output asked_t                     asked_o,
  input  wire logic                  asks_room_i,
  // The payload of the current request.
  output logic                       payload_valid_o,
  input  wire logic                  payload_ready_i,
  output logic                       payload_discard_o,
  output logic [OffsetBits-1:0]      payload_offset_o,
  output logic [31:0]                payload_length_o,
  // Packets, each with what is due once it has left. None of a QP that its rate holds back
  // (paced_i is low). The window of their QP may be closed,
  // and where one that needs a receive has no credit for it, it asks for an acknowledgement.
  input  wire logic                  paced_i,
  input  wire logic                  open_i,
  input  wire logic                  limited_i,
  output logic                       needs_receive_o,
  output logic                       first_o,          // of its message
  output logic                       packet_valid_o,
  input  wire logic                  packet_ready_i,
  output packet_t                    packet_o,
  output logic [23:0]                place_o,          // among the packets of the QP
  output departure_t                 departure_o
);

  localparam logic [31:0] MaxLength = 32'h8000_0000;

  typedef enum logic [2:0] {
    StIdle,     // waiting for a work request
    StLookup,   // QP found; claim the payload and decide
    StStart,    // RC: wait for a place
    StPackets,
    StDiscard
  } state_e;

  typedef struct packed {
    logic [23:0] psn;
    logic [15:0] ip_id;
  } position_t;

  state_e               state_q;
  work_request_t        wr_q;
  operands_t            operands_q;
  position_t            position;        // of the QP when its message begins
  position_t            position_q;      // of the next packet
  logic [31:0]          remaining_q;     // payload bytes of the packets to come
  logic                 last_q;          // they are one packet
  logic [23:0]          first_psn_q, last_psn_q;
  logic                 stale_q;
  logic                 first_q;
  logic                 cancelled_q;     // the QP failed or was reconfigured
  logic                 granted_q;       // the ACK tracker completes the message
  generation_t          generation_q;
  status_e              refusal_q;

  logic [IndexBits-1:0] index;
  logic [31:0]          mtu;
  logic [31:0]          remaining;       // with the packet that is being sent
  logic [31:0]          bound;           // of that, if the next packet is the last
  logic                 ends;            // it is
  logic                 last;
  logic                 sent;
  logic                 is_write;
  logic                 has_immediate;
  logic                 is_datagram;
  logic                 is_atomic;
  logic                 is_asking;       // a READ or an atomic
  status_e              verdict;
  roce_pkg::deth_t      deth;

  assign index         = wr_q.qpn[IndexBits-1:0];
  assign mtu           = 32'd128 << sender_i.path_mtu;
  assign last          = last_q;
  assign remaining     = state_q == StPackets ? remaining_q : wr_q.length;
  assign bound         = state_q == StPackets ? mtu << 1 : mtu;
  assign ends          = remaining <= bound;
  assign sent          = packet_valid_o && packet_ready_i;
  assign is_write      = wr_q.operation inside {OpWrite, OpWriteImm};
  assign has_immediate = wr_q.operation inside {OpSendImm, OpWriteImm};
  assign is_datagram   = sender_i.datagram;
  assign is_atomic     = Reads != 0 && wr_q.operation inside {OpCmpSwap, OpFetchAdd};
  assign is_asking     = is_atomic || (Reads != 0 && wr_q.operation == OpRead);

  assign wr_ready_o        = state_q == StIdle && !hold_i;
  assign lookup_o          = wr_valid_i && wr_ready_o;
  assign lookup_index_o    = wr_i.qpn[IndexBits-1:0];
  assign payload_valid_o   = state_q == StLookup && wr_q.length != '0 && !is_asking;
  assign payload_discard_o = verdict != StatusSuccess;
  assign payload_offset_o  = wr_q.payload_offset[OffsetBits-1:0];
  assign payload_length_o  = wr_q.length;
  assign start_valid_o     = state_q == StStart && !cancelled_q && (!is_asking || asks_room_i);
  assign start_o           = '{qpn: wr_q.qpn, wr_id: wr_q.wr_id, last_psn: last_psn_q};
  assign needs_receive_o   = sender_i.reliable && wr_q.operation inside {OpSend, OpSendImm, OpWriteImm};
  assign first_o           = first_q;
  assign asks_o            = start_valid_o && start_ready_i && !start_refused_i && is_asking;
  assign asked_o           = '{first_psn: position_q.psn, last_psn: last_psn_q, atomic: is_atomic,
                               lkey: operands_q.lkey, address: operands_q.address,
                               length: wr_q.length};

  // The position RAM has one write port, and a restart goes first.
  assign packet_valid_o = (state_q == StDiscard && !flushes_i)
                          || (state_q == StPackets && !cancelled_q && !configure_i && paced_i
                              && (open_i || !sender_i.reliable));

  always_comb begin
    verdict = StatusSuccess;
    if (stale_q) verdict = StatusWrFlushErr;
    else if (wr_q.length > MaxLength) verdict = StatusLocLenErr;
    else if (!sender_i.usable || sender_i.local_qpn != wr_q.qpn
             || !(is_write || wr_q.operation inside {OpSend, OpSendImm}
                  || (is_asking && sender_i.reliable && sender_i.read_limit != '0))) begin
      verdict = StatusLocQpOpErr;
    end else if (is_datagram && is_write) verdict = StatusLocQpOpErr;
    else if (cancelled_q) verdict = StatusWrFlushErr;
    else if (is_datagram && !ends) verdict = StatusLocLenErr;
  end

  ram_1r1w #(
    .Width($bits(position_t)),
    .Words(Qps)
  ) u_positions (
    .clk_i,
    .write_i      (configure_i || (state_q == StPackets && sent && last)),
    .write_index_i(configure_i ? config_i.local_qpn[IndexBits-1:0] : index),
    .write_data_i (configure_i ? {config_i.sq_psn[23:0], config_i.ip_id}
                               : {position_q.psn + 24'd1, position_q.ip_id + 16'd1}),
    .read_i       (lookup_o),
    .read_index_i (lookup_index_o),
    .read_data_o  (position)
  );

  // READs use PSNs without packets.
  if (Recovery != 0 && Reads != 0) begin : gen_places
    logic [23:0]          lead, lead_q, next_lead;
    logic [IndexBits-1:0] configured;

    assign configured = config_i.local_qpn[IndexBits-1:0];
    assign next_lead  = lead_q + last_psn_q - position_q.psn;
    assign place_o    = position_q.psn - lead_q;

    always_ff @(posedge clk_i) begin
      if (state_q == StLookup) lead_q <= lead;
      if (asks_o) lead_q <= next_lead;
    end

    ram_1r1w #(
      .Width(24),
      .Words(Qps)
    ) u_leads (
      .clk_i,
      .write_i      (configure_i || asks_o),
      .write_index_i(configure_i ? configured : index),
      .write_data_i (configure_i ? '0 : next_lead),
      .read_i       (lookup_o),
      .read_index_i (wr_i.qpn[IndexBits-1:0]),
      .read_data_o  (lead)
    );
  end else begin : gen_no_places
    assign place_o = position_q.psn;
  end

  always_comb begin
    packet_o               = '0;
    packet_o.discard       = state_q == StDiscard;
    packet_o.payload_bytes = state_q == StDiscard || last ? remaining_q : mtu;
    packet_o.path          = sender_i.path;
    packet_o.opcode        = opcode();
    packet_o.solicited     = last && wr_q.solicited && wr_q.operation != OpWrite;
    packet_o.ack_req       = last && sender_i.reliable;
    if (Recovery != 0 && sender_i.reliable && &position_q.psn[AskBits-1:0]) begin
      packet_o.ack_req = 1'b1;
    end
    if (limited_i) packet_o.ack_req = 1'b1;
    packet_o.psn           = position_q.psn;
    packet_o.ip_id         = position_q.ip_id;
    packet_o.extensions    = '{ipv6: sender_i.path.ipv6, reth: first_q && is_write, deth: is_datagram,
                               immdt: last && has_immediate, original: 1'b0};
    packet_o.reth          = '{virtual_address: wr_q.remote_addr, rkey: wr_q.rkey,
                               dma_length: wr_q.length};
    packet_o.immediate     = wr_q.immediate;
    // A Q_Key whose top bit is set stands for the queue pair's own.
    deth = '{qkey: packet_o.reth.rkey, reserved: '0, src_qpn: sender_i.local_qpn[23:0]};
    if (deth.qkey[31]) deth.qkey = sender_i.qkey;
    if (is_datagram) begin
      packet_o.path.remote_qpn      = wr_q.remote_addr[23:0];
      packet_o.reth.virtual_address = deth;
    end
    if (is_asking) begin
      packet_o.psn             = first_psn_q;
      packet_o.solicited       = 1'b0;
      packet_o.extensions.reth = 1'b1;
    end
    if (is_atomic) begin
      packet_o.extensions.immdt    = 1'b1;
      packet_o.extensions.original = 1'b1;
      {packet_o.reth.dma_length, packet_o.immediate} = operands_q.swap_or_add;
      packet_o.original                              = operands_q.compare;
    end

    departure_o                     = '0;
    departure_o.discard             = packet_o.discard;
    departure_o.tracked             = !packet_o.discard && sender_i.reliable;
    departure_o.generation          = generation_q;
    departure_o.ack_req             = packet_o.ack_req;
    departure_o.asks                = is_asking && !packet_o.discard;
    departure_o.psn                 = packet_o.psn;
    if (is_asking) departure_o.psn  = position_q.psn;
    departure_o.completes           = packet_o.discard ? !granted_q : last && !sender_i.reliable;
    departure_o.completion.wr_id    = wr_q.wr_id;
    departure_o.completion.qpn      = wr_q.qpn;
    departure_o.completion.status   = packet_o.discard ? refusal_q : StatusSuccess;
    departure_o.completion.syndrome = 8'hff;
  end

  // Table 1.1 of the opcodes: SEND is 0..5, WRITE 6..11; UC is 0x20 above RC.
  function automatic logic [7:0] opcode();
    logic [3:0] place;
    if (is_datagram) return has_immediate ? roce_pkg::UdSendOnlyImm : roce_pkg::UdSendOnly;
    if (is_atomic) return wr_q.operation == OpCmpSwap ? roce_pkg::RcCompareSwap
                                                         : roce_pkg::RcFetchAdd;
    if (is_asking) return roce_pkg::RcReadRequest;
    unique case ({first_q, last})
      2'b10: place = 4'd0;
      2'b00: place = 4'd1;
      2'b01: place = 4'd2 + 4'(has_immediate);
      2'b11: place = 4'd4 + 4'(has_immediate);
    endcase
    return {2'b00, !sender_i.reliable, 1'b0, place + (is_write ? 4'd6 : 4'd0)};
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      if ((configure_i && config_i.local_qpn[IndexBits-1:0] == index)
          || (failed_i && failed_index_i == index && state_q == StPackets)) begin
        cancelled_q <= 1'b1;
      end

      case (state_q)
        StIdle: begin
          wr_q        <= wr_i;
          operands_q  <= operands_i;
          stale_q     <= Reads != 0 && stale_i;
          cancelled_q <= 1'b0;
          granted_q   <= 1'b0;
          first_q     <= 1'b1;
          if (lookup_o) state_q <= StLookup;
        end

        StLookup: begin
          position_q  <= position;
          remaining_q <= payload_discard_o ? '0 : wr_q.length;
          last_q      <= ends;
          if (is_asking) begin
            remaining_q <= '0;
            last_q      <= 1'b1;
          end
          last_psn_q  <= position.psn;
          if (wr_q.length != '0 && !is_atomic) begin
            last_psn_q <= position.psn + 24'((wr_q.length - 32'd1) >> (sender_i.path_mtu + 4'd7));
          end
          refusal_q   <= verdict;
          if (!payload_valid_o || payload_ready_i) begin
            if (payload_discard_o) state_q <= StDiscard;
            else state_q <= sender_i.reliable ? StStart : StPackets;
          end
        end

        StStart: begin
          refusal_q    <= StatusWrFlushErr;
          generation_q <= start_generation_i;
          first_psn_q  <= position_q.psn;
          if (cancelled_q || (start_ready_i && start_refused_i)) begin
            state_q <= StDiscard;
          end else if (start_ready_i) begin
            granted_q <= 1'b1;
            if (is_asking) position_q.psn <= last_psn_q;
            state_q   <= StPackets;
          end
        end

        StPackets: begin
          refusal_q <= StatusWrFlushErr;
          if (cancelled_q) state_q <= StDiscard;
          if (sent) begin
            first_q          <= 1'b0;
            position_q.psn   <= position_q.psn + 24'd1;
            position_q.ip_id <= position_q.ip_id + 16'd1;
            remaining_q      <= remaining_q - mtu;
            last_q           <= ends;
            if (last) state_q <= StIdle;
          end
        end

        default: if (sent) state_q <= StIdle;  // StDiscard
      endcase
    end
  end

  assert_offset_in_beat: assert property (@(posedge clk_i) disable iff (!rst_ni)
      lookup_o && wr_i.length != '0 |-> wr_i.payload_offset[15:OffsetBits] == '0)
  else $error("payload_offset is not inside the first beat");

  assert_last_psn: assert property (@(posedge clk_i) disable iff (!rst_ni)
      state_q == StPackets && sent |-> last == (position_q.psn == last_psn_q))
  else $error("PSNs of a message do not end where they were reserved");

endmodule

`default_nettype wire
