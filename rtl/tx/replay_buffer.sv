// SPDX-License-Identifier: BSD-2-Clause
//
// Keeps what RC QPs send until it is acknowledged, and puts copies between new
// packets. A packet passes on its way to the header builder, its payload on
// the way to the assembler; of RC packets both are kept in passing: the packet
// at {QP, place}, the payload at {QP, place times path MTU}, so that no list of
// free places is needed, and the window of places (send_window.sv) is the limit. A
// place is a PSN, but that a READ has one, however many PSNs its answer takes.
//
// Payload is kept and not fetched again, since the contract's payload stream
// gives it once. What is kept is a packet before its headers are written: a
// copy passes the same stages as the first time and has its own IPv4
// identification, which counts copies, too, and an ICRC that fits. Of a READ
// that is answered in part it asks for the rest.
//
// Copies and new packets take turns. A packet is let through when the payload
// of the one before has come but for its last beats, early enough to follow
// without a gap: one that waited for payload behind it could not be withheld any
// more when its QP is told to wait. Which copy is next is decided as late, so
// that none leaves whose acknowledgement came meanwhile.

`default_nettype none

module replay_buffer
  import roceproof_dut_pkg::*;
  import roce_tx_pkg::*;
#(
  parameter int unsigned DataWidth   = 64,
  parameter int unsigned Qps         = 16,
  parameter int unsigned ReplayBytes = 65536,  // of payload per QP
  parameter int unsigned Packets     = ReplayPackets,  // per QP
  parameter int unsigned Reads       = 0,      // 1: READs are among them
  parameter int unsigned IndexBits   = $clog2(Qps)
) (
  input  wire logic                 clk_i,
  input  wire logic                 rst_ni,
  input  wire logic                 configure_i,
  input  wire qp_config_t           config_i,
  // A copy that is wanted; none while copy_waits_o.
  input  wire logic                 copy_i,
  input  wire logic [IndexBits-1:0] copy_index_i,
  input  wire copy_t                copied_i,
  output logic                      copy_waits_o,   // too early for the next one
  // New packets, each with what is due once it has left.
  input  wire logic                 packet_valid_i,
  output logic                      packet_ready_o,
  input  wire packet_t              packet_i,
  input  wire departure_t           departure_i,
  input  wire logic [23:0]          place_i,
  input  wire logic [2:0]           path_mtu_i,
  output logic                      packet_valid_o,
  input  wire logic                 packet_ready_i,
  output packet_t                   packet_o,
  output departure_t                departure_o,
  output logic                      issued_o,         // a new RC packet
  // Payload from lane 0 on.
  input  wire logic [DataWidth-1:0] payload_tdata_i,
  input  wire logic                 payload_tvalid_i,
  output logic                      payload_tready_o,
  output logic      [DataWidth-1:0] payload_tdata_o,
  output logic                      payload_tvalid_o,
  input  wire logic                 payload_tready_i
);

  localparam int unsigned LaneBits  = $clog2(DataWidth / 8);
  localparam int unsigned PlaceBits = $clog2(Packets);
  localparam int unsigned RingBits  = $clog2(ReplayBytes) - LaneBits;
  localparam int unsigned CountBits = 33 - LaneBits;

  if (ReplayBytes < 8192 || (ReplayBytes & (ReplayBytes - 1)) != 0) begin : gen_bad_bytes
    $error("ReplayBytes must be a power of two, at least two packets of 4096");
  end

  typedef logic [IndexBits+RingBits-1:0] address_t;
  typedef logic [CountBits-1:0]          count_t;

  typedef struct packed {
    packet_t    packet;
    logic [2:0] path_mtu;
  } kept_t;

  // Where the payload of a packet comes from.
  typedef struct packed {
    logic     copy;
    logic     keep;
    address_t address;
    count_t   beats;
  } source_t;

  typedef enum logic [1:0] {
    StChoose,  // whose turn is it? read its identification
    StNew,     // an RC packet that is new
    StCopy
  } state_e;

  state_e               state_q;
  logic                 wanted_q;        // a copy
  logic [IndexBits-1:0] wanted_index_q;
  copy_t                copied_q;
  logic [23:0]          place;           // of the packet that is offered
  logic [31:0]          answered;        // bytes of it, of a READ
  logic                 copy_last_q;     // the latest packet was one
  logic                 chooses_copy;
  logic [IndexBits-1:0] index, new_index;
  logic [15:0]          ip_id;
  kept_t                kept, now;       // the copy; the packet that is offered
  source_t              source, head;
  logic                 source_ready, source_room, head_valid, head_done;
  logic                 taken;

  assign place    = state_q == StCopy ? copied_q.place : place_i;
  assign answered = Reads != 0 ? 32'(copied_q.answered) << (5'(kept.path_mtu) + 5'd7) : '0;

  assign new_index    = departure_i.completion.qpn[IndexBits-1:0];
  assign chooses_copy = wanted_q && !(packet_valid_i && copy_last_q);
  assign index        = state_q == StCopy || (state_q == StChoose && chooses_copy)
                        ? wanted_index_q : new_index;

  always_comb begin
    now          = '{packet: packet_i, path_mtu: path_mtu_i};
    departure_o  = departure_i;
    if (departure_i.tracked) now.packet.ip_id = ip_id;
    if (state_q == StCopy) begin
      now                        = kept;
      now.packet.ip_id           = ip_id;
      now.packet.psn             = copied_q.psn;
      now.packet.reth.virtual_address += 64'(answered);
      now.packet.reth.dma_length -= answered;
      departure_o                = '0;
      departure_o.tracked        = 1'b1;
      departure_o.copy           = 1'b1;
      departure_o.generation     = copied_q.generation;
      departure_o.ack_req        = kept.packet.ack_req;
      departure_o.psn            = copied_q.last_psn;
      departure_o.completion.qpn = 32'(wanted_index_q);
    end
  end

  assign packet_o       = now.packet;
  assign packet_valid_o = source_ready && (state_q == StCopy || (packet_valid_i
      && (state_q == StNew || (state_q == StChoose && !departure_i.tracked && !chooses_copy))));
  assign taken          = packet_valid_o && packet_ready_i;
  assign packet_ready_o = taken && state_q != StCopy;
  assign issued_o       = packet_ready_o && departure_i.tracked;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= StChoose;
      wanted_q    <= 1'b0;
      copy_last_q <= 1'b0;
    end else begin
      if (copy_i) begin
        wanted_q       <= 1'b1;
        wanted_index_q <= copy_index_i;
        copied_q       <= copied_i;
      end
      if (taken) copy_last_q <= state_q == StCopy;
      case (state_q)
        StChoose: begin
          if (chooses_copy) state_q <= StCopy;
          else if (packet_valid_i && departure_i.tracked) state_q <= StNew;
        end
        StNew: if (taken || !packet_valid_i) state_q <= StChoose;
        default: if (taken) begin
          state_q  <= StChoose;
          wanted_q <= 1'b0;
        end
      endcase
    end
  end

  ram_1r1w #(
    .Width(16),
    .Words(Qps)
  ) u_identifications (
    .clk_i,
    .write_i      (configure_i || (taken && departure_o.tracked)),
    .write_index_i(configure_i ? config_i.local_qpn[IndexBits-1:0] : index),
    .write_data_i (configure_i ? config_i.ip_id : ip_id + 16'd1),
    .read_i       (state_q == StChoose),
    .read_index_i (index),
    .read_data_o  (ip_id)
  );

  ram_1r1w #(
    .Width($bits(kept_t)),
    .Words(Qps * Packets)
  ) u_packets (
    .clk_i,
    .write_i      (issued_o),
    .write_index_i({new_index, place_i[PlaceBits-1:0]}),
    .write_data_i (now),
    .read_i       (copy_i),
    .read_index_i ({copy_index_i, copied_i.place[PlaceBits-1:0]}),
    .read_data_o  (kept)
  );

  // Payload, in the order of the packets.
  assign source.copy    = state_q == StCopy;
  assign source.keep    = state_q == StNew;
  assign source.address = {index, RingBits'(place << (32'(now.path_mtu) + 7 - LaneBits))};
  assign source.beats   = count_t'((33'(now.packet.payload_bytes) + (33'd1 << LaneBits) - 33'd1)
                                   >> LaneBits);

  stream_fifo #(
    .Width($bits(source_t)),
    .Depth(2)
  ) u_sources (
    .clk_i,
    .rst_ni,
    .s_data_i (source),
    .s_valid_i(taken && source.beats != '0),
    .s_ready_o(source_room),
    .m_data_o (head),
    .m_valid_o(head_valid),
    .m_ready_i(head_done)
  );

  logic [1:0]           sources_q;
  count_t               given_q;   // beats of the head
  count_t               left;
  count_t               fetched_q;
  logic                 loaded_q;  // a beat of a copy waits
  logic                 fetch, give;
  logic [DataWidth-1:0] beat;

  assign left             = head.beats - given_q;
  assign source_ready     = !head_valid || (sources_q == 2'd1 && source_room
                                            && left <= count_t'(2));
  assign copy_waits_o     = wanted_q || (head_valid && (sources_q != 2'd1 || left > count_t'(8)));
  assign payload_tvalid_o = head_valid && (head.copy ? loaded_q : payload_tvalid_i);
  assign payload_tdata_o  = head.copy ? beat : payload_tdata_i;
  assign give             = payload_tvalid_o && payload_tready_i;
  assign payload_tready_o = give && !head.copy;
  assign head_done        = give && given_q + 1'b1 == head.beats;
  assign fetch            = head_valid && head.copy && fetched_q != head.beats
                            && (!loaded_q || give);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sources_q <= '0;
      given_q   <= '0;
      fetched_q <= '0;
      loaded_q  <= 1'b0;
    end else begin
      sources_q <= sources_q + 2'(taken && source.beats != '0) - 2'(head_done);
      if (give) given_q <= given_q + 1'b1;
      if (fetch) fetched_q <= fetched_q + 1'b1;
      loaded_q <= fetch || (loaded_q && !give);
      if (head_done) begin
        given_q   <= '0;
        fetched_q <= '0;
      end
    end
  end

  ram_1r1w #(
    .Width(DataWidth),
    .Words(Qps << RingBits)
  ) u_payload (
    .clk_i,
    .write_i      (give && head.keep),
    .write_index_i(head.address + address_t'(given_q)),
    .write_data_i (payload_tdata_i),
    .read_i       (fetch),
    .read_index_i (head.address + address_t'(fetched_q)),
    .read_data_o  (beat)
  );

  assert_one_copy: assert property (@(posedge clk_i) disable iff (!rst_ni) copy_i |-> !wanted_q)
  else $error("a copy is wanted while another waits");

  assert_copy_kept: assert property (@(posedge clk_i) disable iff (!rst_ni)
      copy_i |=> !kept.packet.discard && kept.packet.psn == $past(copied_i.psn - copied_i.answered))
  else $error("a copy of what is not kept");

endmodule

`default_nettype wire
