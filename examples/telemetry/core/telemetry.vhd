-- SPDX-License-Identifier: BSD-2-Clause
--
-- The network side of a measuring station: sends messages of 32-bit words to
-- one peer as RDMA WRITEs, and answers ARP and ping. Bytes in, bytes out;
-- frames have neither preamble nor check sequence. Received bytes are always
-- taken. `load` between messages sets the numbers of the next packet;
-- what describes the peer and the message stays as it is while `busy`.

library ieee;
use ieee.std_logic_1164.all;

entity telemetry is
  port (
    clk, rst           : in  std_logic;

    own_mac, peer_mac  : in  std_logic_vector(47 downto 0);
    own_ip, peer_ip    : in  std_logic_vector(31 downto 0);
    peer_qpn           : in  std_logic_vector(23 downto 0);
    load               : in  std_logic;
    psn_value          : in  std_logic_vector(23 downto 0);
    id_value           : in  std_logic_vector(15 downto 0);

    start              : in  std_logic;
    words              : in  std_logic_vector(15 downto 0);
    address            : in  std_logic_vector(63 downto 0);
    rkey               : in  std_logic_vector(31 downto 0);
    busy               : out std_logic;

    payload_data       : in  std_logic_vector(7 downto 0);
    payload_valid      : in  std_logic;
    payload_ready      : out std_logic;

    tx_data            : out std_logic_vector(7 downto 0);
    tx_valid, tx_last  : out std_logic;
    tx_ready           : in  std_logic;

    rx_data            : in  std_logic_vector(7 downto 0);
    rx_valid, rx_last  : in  std_logic;
    rx_bad             : in  std_logic
  );
end entity;

architecture rtl of telemetry is

  type owner_t is (Nobody, Sender, Answers);

  signal owner                        : owner_t;
  signal sender_data, answer_data     : std_logic_vector(7 downto 0);
  signal sender_valid, answer_valid   : std_logic;
  signal sender_last, answer_last     : std_logic;
  signal sender_ready, answer_ready   : std_logic;
  signal valid, last                  : std_logic;

begin

  u_sender : entity work.telemetry_sender
    port map (
      clk => clk, rst => rst,
      own_mac => own_mac, peer_mac => peer_mac, own_ip => own_ip, peer_ip => peer_ip,
      peer_qpn => peer_qpn, load => load, psn_value => psn_value, id_value => id_value,
      start => start, words => words, address => address, rkey => rkey, busy => busy,
      s_data => payload_data, s_valid => payload_valid, s_ready => payload_ready,
      m_data => sender_data, m_valid => sender_valid, m_last => sender_last,
      m_ready => sender_ready
    );

  u_answers : entity work.telemetry_answers
    port map (
      clk => clk, rst => rst, own_mac => own_mac, own_ip => own_ip,
      r_data => rx_data, r_valid => rx_valid, r_last => rx_last, r_bad => rx_bad,
      m_data => answer_data, m_valid => answer_valid, m_last => answer_last,
      m_ready => answer_ready
    );

  sender_ready <= tx_ready when owner = Sender else '0';
  answer_ready <= tx_ready when owner = Answers else '0';

  tx_data  <= answer_data when owner = Answers else sender_data;
  valid    <= answer_valid when owner = Answers else sender_valid when owner = Sender else '0';
  last     <= answer_last when owner = Answers else sender_last;
  tx_valid <= valid;
  tx_last  <= last;

  process (clk)
  begin
    if rising_edge(clk) then
      if rst = '1' then
        owner <= Nobody;
      elsif owner = Nobody then
        if answer_valid = '1' then
          owner <= Answers;
        elsif sender_valid = '1' then
          owner <= Sender;
        end if;
      elsif valid = '1' and tx_ready = '1' and last = '1' then
        owner <= Nobody;
      end if;
    end if;
  end process;

end architecture;
