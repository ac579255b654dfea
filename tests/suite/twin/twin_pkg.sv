// SPDX-License-Identifier: BSD-2-Clause
//
// What the adapter's modules share: habits as the command line says them,
// dice, and a frame with the headers of RoCEv2 over IPv4.

`default_nettype none

package twin_pkg;

  // Where fields begin in a frame without VLAN tags and IP options.
  localparam int Ip = 14, Udp = 34, Bth = 42, Aeth = 54;
  localparam logic [7:0] LastRequest = 8'h0C, ReadFirst = 8'h0D, ReadMiddle = 8'h0E;
  localparam logic [7:0] Acknowledge = 8'h11, AtomicAck = 8'h12, Datagram = 8'h64;

  // A number of the command line; 0 is no such habit.
  function automatic int unsigned habit(string name);
    int unsigned value;
    if ($value$plusargs({name, "=%d"}, value) == 0) value = 0;
    return value;
  endfunction

  function automatic logic [31:0] stirred(logic [31:0] state);
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ (state << 5);
  endfunction

  function automatic logic [31:0] seeded(int unsigned salt);
    return stirred((habit("habit_seed") + 32'd1) * 32'h9E37_79B9 ^ (salt + 32'd1) * 32'h85EB_CA6B);
  endfunction

  function automatic logic has_come(logic [31:0] count, logic [31:0] wanted);
    return count - wanted < 32'h8000_0000;
  endfunction

  class twin_frame;
    logic [7:0]      data[$];
    longint unsigned due;         // before it stays
    bit              asks;        // for an answer of ARP first
    bit              is_barrier;  // behind so many responses
    logic [31:0]     behind[2];
    bit              is_damaged;
    int              sent;        // bytes

    function int size();
      return data.size();
    endfunction

    function logic [15:0] half(int at);
      return {data[at], data[at + 1]};
    endfunction

    function logic [31:0] word(int at);
      return {half(at), half(at + 2)};
    endfunction

    function void put_half(int at, logic [15:0] value);
      data[at]     = value[15:8];
      data[at + 1] = value[7:0];
    endfunction

    function bit is_arp();
      return size() >= 42 && half(12) == 16'h0806;
    endfunction

    function bit is_ipv4();
      return size() >= 60 && half(12) == 16'h0800 && data[Ip] == 8'h45;
    endfunction

    // Long enough to have an ICRC where its IP length says.
    function bit is_roce();
      return is_ipv4() && data[23] == 8'd17 && half(36) == 16'd4791 && half(16) >= 16'd44
          && Ip + int'(half(16)) <= size() && half(38) + 16'd20 == half(16);
    endfunction

    function logic [7:0] opcode();
      return data[Bth];
    endfunction

    // The station that it goes to, and the number of the queue pair there.
    function logic [55:0] key();
      return {word(30), data[47], data[48], data[49]};
    endfunction

    function logic [23:0] psn();
      return {data[51], data[52], data[53]};
    endfunction

    function bit is_response();
      return opcode() >= ReadFirst && opcode() <= AtomicAck;
    endfunction

    function bit is_ack();
      return opcode() == Acknowledge && data[Aeth][7:5] == '0;
    endfunction

    function twin_frame copied();
      twin_frame made;
      int        n;
      made = new();
      for (n = 0; n < size(); n = n + 1) made.data.push_back(data[n]);
      made.asks = asks;
      return made;
    endfunction

    // The ICRC stays as right or wrong as it was: by linearity only what was changed counts.
    function void reseal(twin_frame was);
      int          at, last;
      logic [31:0] crc;
      last = Ip + int'(half(16)) - 4;
      crc  = '0;
      for (at = Ip; at < last; at = at + 1) begin
        if (!(at inside {15, 22, 24, 25, 40, 41, 46})) crc = crc ^ {24'd0, data[at] ^ was.data[at]};
        crc = crc_of(crc);
      end
      for (at = 0; at < 4; at = at + 1) data[last + at] = data[last + at] ^ crc[8 * at +: 8];
    endfunction

    function logic [31:0] crc_of(logic [31:0] crc);
      logic [31:0] made;
      made = crc;
      for (int n = 0; n < 8; n++) made = made[0] ? (made >> 1) ^ 32'hEDB8_8320 : made >> 1;
      return made;
    endfunction

    function logic [31:0] summed(int first, int last);
      logic [31:0] sum;
      int          at;
      sum = '0;
      for (at = first; at < last; at = at + 2) sum = sum + {16'd0, half(at)};
      return sum;
    endfunction

    function logic [15:0] folded(logic [31:0] sum);
      logic [31:0] once;
      once = {16'd0, sum[15:0]} + {16'd0, sum[31:16]};
      return ~(once[15:0] + once[31:16]);
    endfunction

    function void sum_ip();
      put_half(24, 16'd0);
      put_half(24, folded(summed(Ip, Udp)));
    endfunction

    // Over all of the datagram, the ICRC included; 0 would say that there is none.
    function void sum_udp();
      logic [15:0] found;
      int          length;
      length = int'(half(38));
      put_half(40, 16'd0);
      found = folded(32'd17 + length + summed(26, Udp) + summed(Udp, Udp + length));
      put_half(40, found == '0 ? 16'hFFFF : found);
    endfunction
  endclass

endpackage

`default_nettype wire
