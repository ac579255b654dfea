// SPDX-License-Identifier: BSD-2-Clause
//
// What becomes of frames that a device has sent, before they leave: sorted
// into lanes, changed, held, and led by questions of ARP.

`default_nettype none

package twin_outbox_pkg;

  import twin_pkg::*;

  localparam int Requests = 0, Asides = 3, Lanes = 4;
  localparam longint unsigned AskAgain = 4000, GiveUp = 20_000;

  class twin_slot;  // an ACK that is held
    twin_frame       ack;
    int unsigned     count;
    longint unsigned due;
  endclass

  class twin_outbox;
    int unsigned late[Lanes];
    int unsigned gap, hold, merge, ask_each, identifies, sport, ecn, sums, resolves;
    int unsigned announces;

    twin_frame       lanes[Lanes][$];
    twin_slot        slots[logic [55:0]];
    logic [15:0]     ids[logic [55:0]];
    longint unsigned asked[logic [31:0]];
    bit              knows[logic [31:0]];
    logic [31:0]     entered[Lanes], left[Lanes];
    longint unsigned now, free, announce;
    logic [31:0]     dice;
    int              stored, leaving;  // frames; the lane of the one that leaves
    logic [47:0]     mac;
    logic [31:0]     ip;

    function new();
      late[0]    = habit("tx_late");
      late[1]    = habit("answer_late");
      late[2]    = habit("answer_late_too");
      late[3]    = habit("aside_late");
      gap        = habit("tx_gap");
      hold       = habit("ack_hold");
      merge      = habit("ack_merge");
      ask_each   = habit("tx_ask");        // percent
      identifies = habit("tx_id");         // 1 any, 2 constant
      sport      = habit("answer_sport");
      ecn        = habit("answer_ecn");    // and 4
      sums       = habit("tx_sum");
      resolves   = habit("arp_ask");
      announces  = habit("arp_announce");  // cycles
      announce   = announces;
      dice       = seeded(200);
      leaving    = -1;
      for (int n = 0; n < Lanes; n++) begin
        entered[n] = '0;
        left[n]    = '0;
      end
    endfunction

    function bit rolls(int unsigned percent);
      dice = stirred(dice);
      return (dice >> 4) % 100 < percent;
    endfunction

    function int lane_of(twin_frame frame);
      return 1 + int'(^frame.key());
    endfunction

    function void push(twin_frame frame, int lane, int unsigned most);
      dice = stirred(dice);
      frame.due       = now + 64'(dice % (most + 1));
      frame.behind[0] = entered[1];
      frame.behind[1] = entered[2];
      lanes[lane].push_back(frame);
      entered[lane] = entered[lane] + 1;
      stored = stored + 1;
    endfunction

    function void ask(logic [31:0] whom);
      twin_frame    question;
      logic [479:0] said;
      question = new();
      said = {48'hFFFF_FFFF_FFFF, mac, 16'h0806, 64'h0001_0800_0604_0001, mac, ip, 48'h0, whom, 144'h0};
      for (int n = 0; n < 60; n++) begin
        question.data.push_back(said[479:472]);
        said = said << 8;
      end
      push(question, Asides, 0);
    endfunction

    function void push_response(twin_frame frame);
      push(frame, lane_of(frame), late[lane_of(frame)]);
    endfunction

    function void release_slot(logic [55:0] key);
      twin_slot slot;
      slot = slots[key];
      slots.delete(key);
      push_response(slot.ack);
    endfunction

    function void release_due(bit all);
      logic [55:0] key, keys[$];
      if (slots.first(key) != 0) begin
        do keys.push_back(key); while (slots.next(key) != 0);
      end
      foreach (keys[n]) if (all || slots[keys[n]].due <= now) release_slot(keys[n]);
    endfunction

    // An ACK may wait for a later response that stands for it; whether this one does.
    function bit is_held(twin_frame frame);
      logic [55:0] key;
      logic [23:0] ahead;
      twin_slot    slot;
      key = frame.key();
      if (slots.exists(key)) begin
        slot  = slots[key];
        ahead = frame.psn() - slot.ack.psn();
        if (ahead != 0 && !ahead[23] && frame.is_ack()) begin
          slot.ack   = frame;
          slot.count = slot.count + 1;
          if (slot.count >= merge) release_slot(key);
          return 1;
        end
        if (ahead != 0 && !ahead[23] && frame.opcode() != ReadMiddle && rolls(50)) slots.delete(key);
        else release_slot(key);
      end
      if (!frame.is_ack() || merge < 2) return 0;
      slot = new();
      slot.ack   = frame;
      slot.count = 1;
      dice = stirred(dice);
      slot.due   = now + 64'(dice % (hold + 1));
      slots[key] = slot;
      return 1;
    endfunction

    function void change(twin_frame frame);
      twin_frame was;
      was = frame.copied();
      if (frame.opcode() <= LastRequest && rolls(ask_each)) frame.data[Bth + 8] = frame.data[Bth + 8] | 8'h80;
      if (identifies == 1) frame.put_half(18, dice[31:16]);
      if (identifies == 2 && ids.exists(frame.key())) frame.put_half(18, ids[frame.key()]);
      if (frame.is_response()) begin
        if (sport != 0) frame.put_half(34, 16'(sport));
        if (ecn != 0) frame.data[15] = {frame.data[15][7:2], 2'(ecn)};
      end
      frame.reseal(was);
      frame.sum_ip();
      if (sums != 0) frame.sum_udp();
    endfunction

    // From the device.
    function void take(twin_frame frame);
      bit is_aside;
      frame.asks = resolves != 0 && frame.is_ipv4();
      if (!frame.is_roce()) begin
        is_aside = frame.is_arp() || (frame.is_ipv4() && frame.data[23] == 8'd1);
        push(frame, is_aside ? Asides : Requests, late[is_aside ? Asides : Requests]);
        return;
      end
      change(frame);
      if (frame.is_response()) begin
        if (!is_held(frame)) push_response(frame);
        return;
      end
      frame.is_barrier = frame.opcode() == Datagram;
      if (frame.is_barrier) release_due(1);
      push(frame, Requests, late[Requests]);
    endfunction

    // Whether a lane's first frame may leave; it asks for its peer, if it has to.
    function bit may_leave(int lane);
      twin_frame   frame;
      logic [31:0] whom;
      if (lanes[lane].size() == 0) return 0;
      frame = lanes[lane][0];
      if (frame.due > now) return 0;
      if (frame.is_barrier && !(has_come(left[1], frame.behind[0]) && has_come(left[2], frame.behind[1])))
        return 0;
      if (!is_unresolved(lane)) return 1;
      whom = frame.word(30);
      if (!asked.exists(whom) || now - asked[whom] > AskAgain) begin
        asked[whom] = now;
        ask(whom);
      end
      return lane == Asides && now - frame.due > GiveUp;
    endfunction

    function bit is_unresolved(int lane);
      twin_frame frame;
      if (lanes[lane].size() == 0) return 0;
      frame = lanes[lane][0];
      return frame.asks && !knows.exists(frame.word(30));
    endfunction

    // Whether one more may come. What waits for an address holds nothing back: the answer is
    // behind what comes meanwhile.
    function bit has_room(int most);
      if (stored < most) return 1;
      for (int n = 0; n < Lanes; n++) if (is_unresolved(n)) return 1;
      return 0;
    endfunction

    function void choose();
      int lane;
      dice = stirred(dice);
      for (int n = 0; n < Lanes; n++) begin
        lane = (int'(dice[9:8]) + n) % Lanes;
        if (leaving < 0 && may_leave(lane)) leaving = lane;
      end
    endfunction

    // A cycle goes by.
    function void step(bit flushes);
      now = now + 1;
      release_due(flushes);
      if (announces != 0 && now >= announce) begin
        announce = now + announces;
        ask(ip);
      end
    endfunction

    // The frame that leaves; there is one.
    function twin_frame first();
      return lanes[leaving][0];
    endfunction

    function void has_left();
      void'(lanes[leaving].pop_front());
      stored  = stored - 1;
      leaving = -1;
      if (free < now + gap) free = now + gap;
    endfunction
  endclass

endpackage

`default_nettype wire
