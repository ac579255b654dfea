-- SPDX-License-Identifier: BSD-2-Clause
--
-- Messages as RDMA WRITEs on an unreliable connection, a byte in each clock. A
-- message is `words` 32-bit words, one at least; packets carry 1024 bytes.

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity telemetry_sender is
  port (
    clk, rst           : in  std_logic;

    own_mac, peer_mac  : in  std_logic_vector(47 downto 0);
    own_ip, peer_ip    : in  std_logic_vector(31 downto 0);
    peer_qpn           : in  std_logic_vector(23 downto 0);
    load               : in  std_logic;  -- of the numbers of the next packet
    psn_value          : in  std_logic_vector(23 downto 0);
    id_value           : in  std_logic_vector(15 downto 0);

    start              : in  std_logic;
    words              : in  std_logic_vector(15 downto 0);
    address            : in  std_logic_vector(63 downto 0);  -- of the peer's memory
    rkey               : in  std_logic_vector(31 downto 0);
    busy               : out std_logic;

    s_data             : in  std_logic_vector(7 downto 0);
    s_valid            : in  std_logic;
    s_ready            : out std_logic;

    m_data             : out std_logic_vector(7 downto 0);
    m_valid, m_last    : out std_logic;
    m_ready            : in  std_logic
  );
end entity;

architecture rtl of telemetry_sender is

  constant HEADER_BYTES : natural := 54;  -- Ethernet, IPv4, UDP, BTH
  constant RETH_BYTES   : natural := 16;  -- in the first packet of a message
  constant PACKET_WORDS : natural := 256;
  constant SEED         : std_logic_vector(31 downto 0) := x"DEBB20E3";  -- behind eight bytes FF

  type state_t is (Idle, Prepare, Heading, Payload, Trailer);

  function next_crc(crc : std_logic_vector(31 downto 0); byte : std_logic_vector(7 downto 0))
    return std_logic_vector is
    variable c : std_logic_vector(31 downto 0) := crc;
    variable x : std_logic;
  begin
    for i in 0 to 7 loop
      x := c(0) xor byte(i);
      c := '0' & c(31 downto 1);
      if x = '1' then
        c := c xor x"EDB88320";
      end if;
    end loop;
    return c;
  end function;

  function folded(sum : unsigned(19 downto 0)) return unsigned is
    variable once : unsigned(16 downto 0);
  begin
    once := resize(sum(15 downto 0), 17) + sum(19 downto 16);
    return once(15 downto 0) + ("" & once(16));
  end function;

  function wide(half : std_logic_vector(15 downto 0)) return unsigned is
  begin
    return resize(unsigned(half), 20);
  end function;

  signal state      : state_t;
  signal header     : std_logic_vector(8 * (HEADER_BYTES + RETH_BYTES) - 1 downto 0);
  signal crc        : std_logic_vector(31 downto 0);
  signal count      : unsigned(9 downto 0);  -- bytes of this part of the packet
  signal left       : unsigned(15 downto 0);
  signal chunk      : unsigned(8 downto 0);  -- words of this packet
  signal first      : std_logic;
  signal final      : std_logic;
  signal psn        : unsigned(23 downto 0);
  signal id         : unsigned(15 downto 0);

  signal ip_length, udp_length, ip_sum : unsigned(15 downto 0);
  signal opcode, byte, covered         : std_logic_vector(7 downto 0);
  signal valid, moves                  : std_logic;

begin

  final <= '1' when left <= PACKET_WORDS else '0';
  chunk <= left(8 downto 0) when final = '1' else to_unsigned(PACKET_WORDS, 9);

  opcode <= x"2A" when first = '1' and final = '1' else
            x"26" when first = '1' else
            x"28" when final = '1' else
            x"27";

  udp_length <= resize(chunk & "00", 16) + 24 + RETH_BYTES when first = '1' else
                resize(chunk & "00", 16) + 24;
  ip_length  <= udp_length + 20;
  ip_sum     <= not folded(resize(x"4500" + ip_length, 20) + wide(std_logic_vector(id))
                           + to_unsigned(16#8011#, 20)  -- DF, TTL 64, UDP
                           + wide(own_ip(31 downto 16)) + wide(own_ip(15 downto 0))
                           + wide(peer_ip(31 downto 16)) + wide(peer_ip(15 downto 0)));

  byte <= header(header'high downto header'high - 7) when state = Heading else
          s_data when state = Payload else
          not crc(7 downto 0);

  -- What routers may change, and a reserved byte, count as ones.
  covered <= x"FF" when state = Heading and (count = 15 or count = 22 or count = 24 or count = 25
                                             or count = 40 or count = 41 or count = 46) else
             byte;

  valid   <= '1' when state = Heading or state = Trailer else
             s_valid when state = Payload else
             '0';
  moves   <= valid and m_ready;
  m_data  <= byte;
  m_valid <= valid;
  m_last  <= '1' when state = Trailer and count = 3 else '0';
  s_ready <= m_ready when state = Payload else '0';
  busy    <= '0' when state = Idle else '1';

  process (clk)
  begin
    if rising_edge(clk) then
      if load = '1' then
        psn <= unsigned(psn_value);
        id  <= unsigned(id_value);
      end if;

      if rst = '1' then
        state <= Idle;
      elsif state = Idle then
        left  <= unsigned(words);
        first <= '1';
        if start = '1' then
          state <= Prepare;
        end if;
      elsif state = Prepare then
        header <= peer_mac & own_mac & x"0800"
                  & x"4500" & std_logic_vector(ip_length) & std_logic_vector(id) & x"40004011"
                  & std_logic_vector(ip_sum) & own_ip & peer_ip
                  & x"C0DE12B7" & std_logic_vector(udp_length) & x"0000"
                  & opcode & x"40FFFF00" & peer_qpn & x"00" & std_logic_vector(psn)
                  & address & rkey & x"000" & "00" & words & "00";
        crc    <= SEED;
        count  <= (others => '0');
        state  <= Heading;
      elsif moves = '1' then
        count <= count + 1;
        if state = Heading then
          header <= header(header'high - 8 downto 0) & x"00";
          if count >= 14 then
            crc <= next_crc(crc, covered);
          end if;
          if count = HEADER_BYTES + RETH_BYTES - 1
             or (count = HEADER_BYTES - 1 and first = '0') then
            state <= Payload;
            count <= (others => '0');
          end if;
        elsif state = Payload then
          crc <= next_crc(crc, covered);
          if count + 1 = resize(chunk & "00", 10) then
            state <= Trailer;
            count <= (others => '0');
          end if;
        else
          crc <= x"00" & crc(31 downto 8);
          if count = 3 then
            psn   <= psn + 1;
            id    <= id(15 downto 8) & (id(7 downto 0) + 1);
            left  <= left - chunk;
            first <= '0';
            state <= Prepare;
            if final = '1' then
              state <= Idle;
            end if;
          end if;
        end if;
      end if;
    end if;
  end process;

end architecture;
