// SPDX-License-Identifier: BSD-2-Clause
//
// Frames on their way into a device, each stored, as late as the habits say,
// and with AckReq set where the device shall acknowledge what did not ask for it.

`default_nettype none

module twin_arrivals
  import twin_pkg::*;
#(
  parameter int unsigned DataWidth = 64
) (
  input  wire logic                   clk_i,
  input  wire logic                   rst_ni,
  input  wire logic [DataWidth-1:0]   s_tdata_i,
  input  wire logic [DataWidth/8-1:0] s_tkeep_i,
  input  wire logic                   s_tvalid_i,
  input  wire logic                   s_tlast_i,
  input  wire logic                   s_tuser_i,
  output logic                        s_tready_o,
  output logic [DataWidth-1:0]        m_tdata_o,
  output logic [DataWidth/8-1:0]      m_tkeep_o,
  output logic                        m_tvalid_o,
  output logic                        m_tlast_o,
  output logic                        m_tuser_o,
  input  wire logic                   m_tready_i,
  output logic [31:0]                 entered_o,    // frames, one that has begun included
  output logic [31:0]                 left_o,
  output logic                        learned_o,    // whose address an answer of ARP tells
  output logic [31:0]                 learned_ip_o,
  output logic                        paused_o,     // the link, for so many cycles
  output logic [31:0]                 pause_o
);

  localparam int Bytes = DataWidth / 8, Room = 16;

  typedef struct packed {
    logic                 last, user;
    logic [Bytes-1:0]     keep;
    logic [DataWidth-1:0] data;
  } beat_t;

  int unsigned     most_late, ask_percent;
  logic            stores;
  twin_frame       stored[$];
  twin_frame       frame;  // which comes
  longint unsigned now, latest;
  logic [31:0]     dice;
  logic            valid_q, in_frame_q, room_q;
  beat_t           beat_q, beat;

  initial begin
    most_late   = habit("rx_late");
    ask_percent = habit("rx_ask");
    stores      = most_late != 0 || ask_percent != 0;
  end

  assign s_tready_o = stores ? room_q || in_frame_q : m_tready_i;
  assign m_tvalid_o = stores ? valid_q : s_tvalid_i;
  assign {m_tlast_o, m_tuser_o, m_tkeep_o, m_tdata_o}
      = stores ? beat_q : {s_tlast_i, s_tuser_i, s_tkeep_i, s_tdata_i};

  // A SEND or WRITE on a reliable connection, which does not ask.
  function automatic logic may_ask(twin_frame found);
    return found.is_roce() && (found.opcode() <= 8'h0B || found.opcode() inside {8'h16, 8'h17})
        && !found.data[Bth + 8][7];
  endfunction

  function automatic logic is_pause(twin_frame found);
    return found.size() >= 60 && found.half(12) == 16'h8808 && found.half(14) == 16'h0101
        && found.data[17][0] && found.word(0) == 32'h0180_C200 && found.half(4) == 16'h0001;
  endfunction

  always @(posedge clk_i) begin
    learned_o <= 1'b0;
    paused_o  <= 1'b0;
    if (!rst_ni) begin
      stored.delete();
      frame      = new();
      now        = 0;
      latest     = 0;
      dice       = seeded(100);
      valid_q    <= 1'b0;
      in_frame_q <= 1'b0;
      room_q     <= 1'b0;
      entered_o  <= '0;
      left_o     <= '0;
    end else begin
      now = now + 1;
      if (s_tvalid_i && s_tready_o) begin
        in_frame_q <= !s_tlast_i;
        if (!in_frame_q) entered_o <= entered_o + 1;
        for (int n = 0; n < Bytes; n++) begin
          if (s_tkeep_i[n]) frame.data.push_back(s_tdata_i[8 * n +: 8]);
        end
        if (s_tlast_i) begin
          dice = stirred(dice);
          frame.is_damaged = s_tuser_i;
          if (!s_tuser_i && frame.is_arp() && frame.half(20) == 16'd2) begin
            learned_o    <= 1'b1;
            learned_ip_o <= frame.word(28);
          end
          if (!s_tuser_i && is_pause(frame)) begin
            paused_o <= 1'b1;
            pause_o  <= 32'(frame.half(18)) * 512 / DataWidth;
          end
          if (stores) begin
            if ((dice >> 8) % 100 < ask_percent && may_ask(frame)) begin
              automatic twin_frame was = frame.copied();
              frame.data[Bth + 8] = frame.data[Bth + 8] | 8'h80;
              frame.reseal(was);
            end
            frame.due = now + 64'(dice % (most_late + 1));
            if (frame.due < latest) frame.due = latest;
            latest = frame.due;
            stored.push_back(frame);
          end
          frame = new();
        end
      end
      if (m_tvalid_o && m_tready_i) begin
        valid_q <= 1'b0;
        if (m_tlast_o) left_o <= left_o + 1;
      end
      if ((!valid_q || m_tready_i) && stored.size() != 0) begin
        automatic twin_frame first = stored[0];
        if (first.due <= now) begin
          beat = '0;
          for (int n = 0; n < Bytes; n++) begin
            if (first.sent + n < first.size()) begin
              beat.keep[n]        = 1'b1;
              beat.data[8 * n +: 8] = first.data[first.sent + n];
            end
          end
          first.sent = first.sent + Bytes;
          beat.last  = first.sent >= first.size();
          beat.user  = beat.last && first.is_damaged;
          beat_q  <= beat;
          valid_q <= 1'b1;
          if (beat.last) void'(stored.pop_front());
        end
      end
      room_q <= stored.size() < Room;
    end
  end

endmodule

`default_nettype wire
