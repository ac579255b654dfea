-- SPDX-License-Identifier: BSD-2-Clause
-- A case with a branch for all other values.
library ieee;
use ieee.std_logic_1164.all;

entity sel is
  port (
    s : in  std_logic_vector(1 downto 0);
    y : out std_logic_vector(1 downto 0)
  );
end sel;

architecture rtl of sel is
begin
  process (all) begin
    case s is
      when "00"   => y <= "01";
      when "01"   => y <= "10";
      when others => y <= "11";
    end case;
  end process;
end rtl;
