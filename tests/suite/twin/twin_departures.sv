// SPDX-License-Identifier: BSD-2-Clause
//
// Frames on their way out of a device, each stored and sorted into a lane:
// requests and connection management, responses to one half of the queue pairs
// and to the other, ARP and ICMP. A lane keeps its order, the lanes overtake
// each other. ACKs may be held, so that later ones stand for them; headers that
// the contract leaves open are changed; ARP asks for whom no frame has gone to
// yet.

`default_nettype none

module twin_departures
  import twin_pkg::*;
  import twin_outbox_pkg::*;
#(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [47:0]            port_mac_i,
  input  wire logic [31:0]            port_ipv4_i,
  input  wire logic                   flush_i,      // held ACKs go at once
  input  wire logic                   told_i,       // of a queue pair: whose identification
  input  wire logic [55:0]            told_key_i,   // the peer's address and number
  input  wire logic [15:0]            told_id_i,
  input  wire logic                   learned_i,
  input  wire logic [31:0]            learned_ip_i,
  input  wire logic                   paused_i,
  input  wire logic [31:0]            pause_i,
  input  wire logic [DataWidth-1:0]   s_tdata_i,
  input  wire logic [DataWidth/8-1:0] s_tkeep_i,
  input  wire logic                   s_tvalid_i,
  input  wire logic                   s_tlast_i,
  output logic                        s_tready_o,
  output logic [DataWidth-1:0]        m_tdata_o,
  output logic [DataWidth/8-1:0]      m_tkeep_o,
  output logic                        m_tvalid_o,
  output logic                        m_tlast_o,
  input  wire logic                   m_tready_i,
  output logic                        in_frame_o,   // one comes from the device
  output logic [3:0][31:0]            entered_o,    // whole frames, of each lane
  output logic [3:0][31:0]            left_o
);

  localparam int Bytes = DataWidth / 8, Room = 6;

  typedef struct packed {
    logic                 last;
    logic [Bytes-1:0]     keep;
    logic [DataWidth-1:0] data;
  } beat_t;

  logic       stores, pauses;
  twin_outbox box;
  twin_frame  frame;  // which comes
  logic       valid_q, room_q;
  logic [1:0] lane_q;
  beat_t      beat_q, beat;

  initial begin
    stores = habit("store") != 0;
    pauses = habit("pause") != 0;
  end

  assign s_tready_o = stores ? room_q || in_frame_o : m_tready_i;
  assign m_tvalid_o = stores ? valid_q : s_tvalid_i;
  assign {m_tlast_o, m_tkeep_o, m_tdata_o} = stores ? beat_q : {s_tlast_i, s_tkeep_i, s_tdata_i};

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      box        = new();
      frame      = new();
      valid_q    <= 1'b0;
      room_q     <= 1'b0;
      in_frame_o <= 1'b0;
      entered_o  <= '0;
      left_o     <= '0;
    end else if (stores) begin
      box.mac = port_mac_i;
      box.ip  = port_ipv4_i;
      box.step(flush_i);
      if (told_i) box.ids[told_key_i] = told_id_i;
      if (learned_i) box.knows[learned_ip_i] = 1'b1;
      if (paused_i && pauses) box.free = box.now + 64'(pause_i);
      if (s_tvalid_i && s_tready_o) begin
        in_frame_o <= !s_tlast_i;
        for (int n = 0; n < Bytes; n++) begin
          if (s_tkeep_i[n]) frame.data.push_back(s_tdata_i[8 * n +: 8]);
        end
        if (s_tlast_i) begin
          box.take(frame);
          frame = new();
        end
      end
      if (valid_q && m_tready_i) begin
        valid_q <= 1'b0;
        if (beat_q.last) box.left[lane_q] = box.left[lane_q] + 1;
      end
      if (!valid_q || m_tready_i) begin
        if (box.leaving < 0 && box.free <= box.now) box.choose();
        if (box.leaving >= 0) begin
          automatic twin_frame first = box.first();
          beat = '0;
          for (int n = 0; n < Bytes; n++) begin
            if (first.sent + n < first.size()) begin
              beat.keep[n]          = 1'b1;
              beat.data[8 * n +: 8] = first.data[first.sent + n];
            end
          end
          first.sent = first.sent + Bytes;
          beat.last  = first.sent >= first.size();
          beat_q  <= beat;
          lane_q  <= 2'(box.leaving);
          valid_q <= 1'b1;
          if (beat.last) box.has_left();
        end
      end
      room_q <= box.has_room(Room);
      for (int n = 0; n < Lanes; n++) begin
        entered_o[n] <= box.entered[n];
        left_o[n]    <= box.left[n];
      end
    end
  end

endmodule

`default_nettype wire
