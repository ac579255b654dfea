-- SPDX-License-Identifier: BSD-2-Clause
--
-- Answers ARP requests and pings for this station from a copy of the request,
-- one at a time; what comes while an answer waits to leave is let go by.

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity telemetry_answers is
  port (
    clk, rst        : in  std_logic;
    own_mac         : in  std_logic_vector(47 downto 0);
    own_ip          : in  std_logic_vector(31 downto 0);

    r_data          : in  std_logic_vector(7 downto 0);
    r_valid, r_last : in  std_logic;
    r_bad           : in  std_logic;

    m_data          : out std_logic_vector(7 downto 0);
    m_valid, m_last : out std_logic;
    m_ready         : in  std_logic
  );
end entity;

architecture rtl of telemetry_answers is

  constant MOST_BYTES : natural := 2048;
  constant FEWEST     : natural := 60;  -- bytes of a frame; also of an ARP reply
  constant ETH_BYTES  : natural := 14;

  type memory_t is array (0 to MOST_BYTES - 1) of std_logic_vector(7 downto 0);

  signal memory          : memory_t;
  signal at              : unsigned(11 downto 0);  -- the byte that is received or sent
  signal size            : unsigned(11 downto 0);
  signal packet_end      : unsigned(11 downto 0);  -- what the IP header counts, and Ethernet's
  signal from            : unsigned(11 downto 0);  -- where in the request a sent byte stood
  signal sending         : std_logic;
  signal is_arp, is_echo : std_logic;  -- so far
  signal to_us, to_all   : std_logic;
  signal sum             : unsigned(15 downto 0);  -- of the echo request
  signal new_sum         : unsigned(15 downto 0);
  signal mac_bytes       : std_logic_vector(47 downto 0);  -- own_mac, its next byte on top
  signal copied          : std_logic_vector(7 downto 0);

begin

  new_sum <= sum + x"0800" when sum < x"F800" else sum + x"0801";
  copied  <= memory(to_integer(from(10 downto 0)));

  from <= at + 6 when at < 6 else
          at - 10 when is_arp = '1' and at >= 32 and at < 42 else
          at - 4 when is_echo = '1' and at >= 30 and at < 34 else
          at;

  m_data <= mac_bytes(47 downto 40) when (at >= 6 and at < 12)
                                         or (is_arp = '1' and at >= 22 and at < 28) else
            x"02" when is_arp = '1' and at = 21 else
            own_ip(31 downto 24) when (is_arp = '1' and at = 28) or (is_echo = '1' and at = 26) else
            own_ip(23 downto 16) when (is_arp = '1' and at = 29) or (is_echo = '1' and at = 27) else
            own_ip(15 downto 8) when (is_arp = '1' and at = 30) or (is_echo = '1' and at = 28) else
            own_ip(7 downto 0) when (is_arp = '1' and at = 31) or (is_echo = '1' and at = 29) else
            x"00" when (is_echo = '1' and (at = 34 or at >= packet_end))
                       or (is_arp = '1' and at >= 42) else
            std_logic_vector(new_sum(15 downto 8)) when is_echo = '1' and at = 36 else
            std_logic_vector(new_sum(7 downto 0)) when is_echo = '1' and at = 37 else
            copied;

  m_valid <= sending;
  m_last  <= '1' when at + 1 = size else '0';

  process (clk)
    variable arp, echo, us, everyone : std_logic;
    variable is_whole                : boolean;
  begin
    if rising_edge(clk) then
      if rst = '1' then
        sending   <= '0';
        at        <= (others => '0');
        mac_bytes <= own_mac;
      elsif sending = '1' then
        if m_ready = '1' then
          at <= at + 1;
          if (at >= 6 and at < 12) or (at >= 22 and at < 28) then
            mac_bytes <= mac_bytes(39 downto 0) & mac_bytes(47 downto 40);
          end if;
          if at + 1 = size then
            sending   <= '0';
            at        <= (others => '0');
            mac_bytes <= own_mac;
          end if;
        end if;
      elsif r_valid = '1' then
        memory(to_integer(at(10 downto 0))) <= r_data;

        arp      := is_arp;
        echo     := is_echo;
        us       := to_us;
        everyone := to_all;
        if at = 0 then
          arp      := '1';
          echo     := '1';
          us       := '1';
          everyone := '1';
        end if;
        if at < 6 then
          mac_bytes <= mac_bytes(39 downto 0) & mac_bytes(47 downto 40);
          if r_data /= mac_bytes(47 downto 40) then
            us := '0';
          end if;
          if r_data /= x"FF" then
            everyone := '0';
          end if;
        end if;
        if (at = 12 and r_data /= x"08") or (at = 13 and r_data /= x"06")
           or (at = 20 and r_data /= x"00") or (at = 21 and r_data /= x"01")
           or (at = 38 and r_data /= own_ip(31 downto 24))
           or (at = 39 and r_data /= own_ip(23 downto 16))
           or (at = 40 and r_data /= own_ip(15 downto 8))
           or (at = 41 and r_data /= own_ip(7 downto 0)) then
          arp := '0';
        end if;
        if (at = 12 and r_data /= x"08") or (at = 13 and r_data /= x"00")
           or (at = 14 and r_data /= x"45") or (at = 23 and r_data /= x"01")
           or (at = 30 and r_data /= own_ip(31 downto 24))
           or (at = 31 and r_data /= own_ip(23 downto 16))
           or (at = 32 and r_data /= own_ip(15 downto 8))
           or (at = 33 and r_data /= own_ip(7 downto 0))
           or (at = 34 and r_data /= x"08") or (at = 35 and r_data /= x"00") then
          echo := '0';
        end if;
        if at = 16 then
          packet_end <= resize(unsigned(r_data(2 downto 0)), 4) & x"00";
          if r_data(7 downto 3) /= "00000" then
            echo := '0';
          end if;
        elsif at = 17 then
          packet_end <= packet_end + unsigned(r_data) + ETH_BYTES;
        end if;
        if at = 36 then
          sum(15 downto 8) <= unsigned(r_data);
        elsif at = 37 then
          sum(7 downto 0) <= unsigned(r_data);
        end if;
        is_arp  <= arp;
        is_echo <= echo;
        to_us   <= us;
        to_all  <= everyone;

        if at < MOST_BYTES then
          at <= at + 1;
        end if;
        if r_last = '1' then
          at        <= (others => '0');
          mac_bytes <= own_mac;
          size      <= to_unsigned(FEWEST, 12);
          if echo = '1' and packet_end > FEWEST then
            size <= packet_end;
          end if;
          is_whole := arp = '1' or packet_end <= at + 1;
          if r_bad = '0' and at >= 41 and at < MOST_BYTES and is_whole
             and ((arp = '1' and (us or everyone) = '1') or (echo and us) = '1') then
            sending <= '1';
          end if;
        end if;
      end if;
    end if;
  end process;

end architecture;
