# SPDX-License-Identifier: BSD-2-Clause
"""The conversations of the stock tools that are worth a capture, and what each one shows.

Iteration counts are the smallest that the tools take, so that a capture stays
readable. Losses are counted per direction and opcode: they are the same in
every run, while the QPNs, PSNs and times are the tools' and the kernel's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from roceproof.rxe_env.stock_wire import Loss

SERVER, CLIENT = "server", "client"
SERVER_IPV4, SERVER_IPV6 = "10.77.0.1", "fd77::1"
PINGPONG_PORT, RPING_PORT = 18515, 7174
GID_IPV4, GID_IPV6 = 1, 2

SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY = 0x00, 0x01, 0x02, 0x04
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY = 0x06, 0x07, 0x08, 0x0A
READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY = 0x0C, 0x0D, 0x0E, 0x0F, 0x10
ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP, FETCH_ADD = 0x11, 0x12, 0x13, 0x14
UC_WRITE_FIRST, UC_WRITE_MIDDLE, UC_WRITE_LAST = 0x26, 0x27, 0x28


@dataclass(frozen=True)
class Scenario:
    """One tool, run as server and client, over a wire with the given losses."""

    name: str
    command: str
    shows: str
    losses: tuple[Loss, ...] = ()
    ipv6: bool = False

    @property
    def server(self) -> str:
        """The server's command line."""
        return f"{self.command} -s -a {self._address}" if self._is_rping else self.command

    @property
    def client(self) -> str:
        """The client's command line."""
        return f"{self.command} {'-c -a ' if self._is_rping else ''}{self._address}"

    @property
    def until_listening(self) -> str:
        """The guest's command that ends when the server is ready for the client."""
        if self._is_rping:
            return f"until_cm_listening {RPING_PORT}"
        return f"until_listening {PINGPONG_PORT}"

    @property
    def _address(self) -> str:
        return SERVER_IPV6 if self._is_rping and self.ipv6 else SERVER_IPV4

    @property
    def _is_rping(self) -> bool:
        return self.command.startswith("rping ")


def _verbs(
    name: str, command: str, shows: str, *losses: Loss, ipv6: bool = False, gid: str = "-g"
) -> Scenario:
    index = GID_IPV6 if ipv6 else GID_IPV4
    return Scenario(name, f"{command} -d rxe0 {gid} {index}", shows, losses, ipv6)


def _perf(name: str, command: str, shows: str, *losses: Loss, ipv6: bool = False) -> Scenario:
    return _verbs(name, f"{command} -F", shows, *losses, ipv6=ipv6, gid="-x")


def _lost(towards: str, *opcodes: int, nth: int = 1, recorded: bool = False) -> Loss:
    return Loss(towards, opcodes, nth, recorded)


SCENARIOS = (
    _verbs("rc_pingpong", "ibv_rc_pingpong -c -m 1024 -s 4096 -n 5", "SEND of four packets"),
    _verbs(
        "rc_pingpong_ipv6",
        "ibv_rc_pingpong -c -m 256 -s 1001 -n 5",
        "IPv6, pads, path MTU 256",
        ipv6=True,
    ),
    _verbs(
        "rc_pingpong_lost_data",
        "ibv_rc_pingpong -c -m 1024 -s 5001 -n 5",
        "a lost middle in each direction: PSN sequence error, retransmission",
        _lost(SERVER, SEND_MIDDLE, nth=4),
        _lost(CLIENT, SEND_MIDDLE, nth=8, recorded=True),
    ),
    _verbs(
        "rc_pingpong_timeout",
        "ibv_rc_pingpong -c -m 512 -s 700 -n 6",
        "a lost last packet and a lost acknowledgement: timeouts, duplicates",
        _lost(SERVER, SEND_LAST, nth=2),
        _lost(CLIENT, ACKNOWLEDGE, nth=5, recorded=True),
    ),
    _verbs("uc_pingpong", "ibv_uc_pingpong -c -m 512 -s 1537 -n 5", "UC SEND with pads"),
    _verbs("ud_pingpong", "ibv_ud_pingpong -c -s 1000 -n 5", "UD SEND"),
    _verbs("ud_pingpong_tiny", "ibv_ud_pingpong -c -s 1 -n 5", "UD SEND of one byte"),
    _verbs(
        "ud_pingpong_ipv6", "ibv_ud_pingpong -c -s 2047 -n 5", "UD SEND over IPv6, pads", ipv6=True
    ),
    _verbs("srq_pingpong", "ibv_srq_pingpong -c -m 1024 -s 100 -n 20 -q 4", "four QPs on one SRQ"),
    _perf("write_bw", "ib_write_bw -m 4096 -s 10000 -n 5", "WRITE of three packets, MTU 4096"),
    _perf("write_bw_qps", "ib_write_bw -m 256 -s 300 -n 5 -q 4", "WRITE on four QPs, MTU 256"),
    _perf(
        "write_bw_lost",
        "ib_write_bw -m 512 -s 2000 -n 5",
        "a lost first, middle and acknowledgement",
        _lost(SERVER, WRITE_FIRST, nth=2),
        _lost(SERVER, WRITE_MIDDLE, nth=9, recorded=True),
        _lost(CLIENT, ACKNOWLEDGE, nth=2),
    ),
    _perf(
        "write_bw_uc_lost",
        "ib_write_bw -c UC -m 512 -s 2000 -n 8",
        "UC WRITE with a lost middle and a lost first: nobody notices",
        _lost(SERVER, UC_WRITE_MIDDLE, nth=3),
        _lost(SERVER, UC_WRITE_FIRST, nth=5),
    ),
    _perf("read_bw", "ib_read_bw -m 1024 -s 9000 -n 5", "READ responses of nine packets"),
    _perf("read_bw_tiny", "ib_read_bw -m 1024 -s 3 -n 5", "READ RESPONSE ONLY of three bytes"),
    _perf(
        "read_bw_ipv6_lost",
        "ib_read_bw -m 512 -s 2050 -n 5",
        "READ over IPv6 with a lost request and a lost middle response",
        _lost(SERVER, READ_REQUEST, nth=3),
        _lost(CLIENT, READ_MIDDLE, nth=2),
        ipv6=True,
    ),
    _perf("atomic_fetch_add", "ib_atomic_bw -A FETCH_AND_ADD -n 10", "FETCH ADD"),
    _perf(
        "atomic_compare_swap_lost",
        "ib_atomic_bw -A CMP_AND_SWAP -n 10",
        "COMPARE SWAP with a lost request and a lost acknowledgement: an atomic replayed",
        _lost(SERVER, COMPARE_SWAP, nth=3),
        _lost(CLIENT, ATOMIC_ACKNOWLEDGE, nth=6, recorded=True),
    ),
    _perf("send_bw_rnr", "ib_send_bw -m 1024 -s 1500 -n 8 -r 1", "receiver not ready"),
    _perf("send_bw_ud", "ib_send_bw -c UD -m 1024 -s 600 -n 5", "UD SEND in one direction"),
    Scenario("rping", "rping -C 5 -S 100 -V", "CM exchange, SEND, READ and WRITE"),
    Scenario(
        "rping_ipv6_lost",
        "rping -C 5 -S 5000 -V",
        "CM exchange over IPv6, path MTU 4096, a lost READ response and a lost WRITE",
        (_lost(SERVER, READ_LAST, nth=2), _lost(CLIENT, WRITE_FIRST, nth=4)),
        ipv6=True,
    ),
)
