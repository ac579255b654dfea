# SPDX-License-Identifier: BSD-2-Clause
"""The conversations of the stock tools that are worth a capture, and what each one shows.

Iteration counts are the smallest that the tools take, so that a capture stays
readable. Losses are counted per direction and opcode: they are the same in
every run, while QPNs, most PSNs and times are the tools' and the kernel's own.
"""

from roceproof.conformance.interop.stock.cable import EVERY
from roceproof.conformance.interop.stock.scenarios import (
    CLIENT,
    IPV4,
    IPV6,
    SERVER,
    VLAN,
    by_cm,
    ended,
    expecting,
    failing,
    lost,
    multicast,
    perf,
    pingpong,
    wrapping,
)

SEND_FIRST, SEND_MIDDLE, SEND_LAST = 0x00, 0x01, 0x02
WRITE_FIRST, WRITE_MIDDLE, WRITE_ONLY = 0x06, 0x07, 0x0A
READ_REQUEST, READ_MIDDLE, READ_LAST = 0x0C, 0x0E, 0x0F
ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP = 0x11, 0x12, 0x13
UC_WRITE_FIRST, UC_WRITE_MIDDLE, UD_SEND = 0x26, 0x27, 0x64

_RPING = ("{} -s -a " + IPV4, "{} -c -a " + IPV4)
_RPING_IPV6 = ("{} -s -a " + IPV6, "{} -c -a " + IPV6)
_BOUND = ("{} -b " + IPV4, "{} -s " + IPV4)
_SOAK = tuple(
    lost(towards, SEND_FIRST, SEND_MIDDLE, SEND_LAST, ACKNOWLEDGE, nth=nth, recorded=nth % 2 == 0)
    for towards in (SERVER, CLIENT)
    for nth in range(41, 500, 43)
)

_PINGPONGS = (
    pingpong("rc_pingpong", "ibv_rc_pingpong -m 1024 -s 4096 -n 5", "SEND of four packets"),
    pingpong("rc_ipv6", "ibv_rc_pingpong -m 256 -s 1001 -n 5", "IPv6, MTU 256, pads", to=IPV6),
    pingpong("rc_vlan", "ibv_rc_pingpong -m 2048 -s 4099 -n 5", "VLAN 7, MTU 2048", to=VLAN),
    wrapping(
        pingpong(
            "rc_wrap",
            "ibv_rc_pingpong -m 256 -s 1000 -n 5",
            "PSNs wrap; the packet with PSN 0xFFFFFF is lost",
            lost(SERVER, SEND_FIRST, nth=2),
        )
    ),
    pingpong(
        "rc_lost_data",
        "ibv_rc_pingpong -m 1024 -s 5001 -n 5",
        "a lost middle each way: sequence NAK, retransmission",
        lost(SERVER, SEND_MIDDLE, nth=4),
        lost(CLIENT, SEND_MIDDLE, nth=8, recorded=True),
    ),
    pingpong(
        "rc_timeout",
        "ibv_rc_pingpong -m 512 -s 700 -n 6",
        "a lost last packet and a lost acknowledgement: timeouts, duplicates",
        lost(SERVER, SEND_LAST, nth=2),
        lost(CLIENT, ACKNOWLEDGE, nth=5, recorded=True),
    ),
    pingpong("rc_soak", "ibv_rc_pingpong -m 256 -s 700 -n 150", "a loss in 43 frames", *_SOAK),
    pingpong("uc_pingpong", "ibv_uc_pingpong -m 512 -s 1537 -n 5", "UC SEND with pads"),
    pingpong("ud_pingpong", "ibv_ud_pingpong -s 1000 -n 5", "UD SEND"),
    pingpong("ud_tiny", "ibv_ud_pingpong -s 1 -n 5", "UD SEND of one byte"),
    pingpong("ud_ipv6", "ibv_ud_pingpong -s 2047 -n 5", "UD SEND over IPv6, pads", to=IPV6),
    pingpong("srq_pingpong", "ibv_srq_pingpong -m 1024 -s 100 -n 20 -q 4", "four QPs, one SRQ"),
)

_PERFTESTS = (
    perf("write", "ib_write_bw -m 4096 -s 10000 -n 5", "WRITE, MTU 4096"),
    perf("write_qps", "ib_write_bw -m 256 -s 300 -n 5 -q 4 -b", "WRITE both ways on four QPs"),
    perf("write_dscp", "ib_write_bw -m 1024 -s 64 -n 5 --tclass 106", "DSCP 26, ECT(0)"),
    perf(
        "write_lost",
        "ib_write_bw -m 512 -s 2000 -n 5",
        "a lost first packet and the NAK for it: timeout; then a lost middle",
        lost(SERVER, WRITE_FIRST, nth=2),
        lost(SERVER, WRITE_MIDDLE, nth=13, recorded=True),
        lost(CLIENT, ACKNOWLEDGE, nth=2),
    ),
    perf(
        "uc_write_lost",
        "ib_write_bw -c UC -m 512 -s 2000 -n 8",
        "UC WRITE, a middle and a first lost behind the recording point: nobody notices",
        lost(SERVER, UC_WRITE_MIDDLE, nth=3, recorded=True),
        lost(SERVER, UC_WRITE_FIRST, nth=5, recorded=True),
    ),
    perf(
        "uc_write_gap",
        "ib_write_bw -c UC -m 512 -s 2000 -n 8",
        "the same losses in front of the recording point: gaps that nothing explains",
        lost(SERVER, UC_WRITE_MIDDLE, nth=3),
        lost(SERVER, UC_WRITE_FIRST, nth=5),
    ),
    perf("read", "ib_read_bw -m 1024 -s 9000 -n 5", "READ responses of nine packets"),
    perf("read_qps", "ib_read_bw -m 2048 -s 3 -n 5 -q 2", "READ of three bytes on two QPs"),
    perf(
        "read_ipv6_lost",
        "ib_read_bw -m 512 -s 2050 -n 5",
        "READ over IPv6 with a lost request and a lost middle response",
        lost(SERVER, READ_REQUEST, nth=3),
        lost(CLIENT, READ_MIDDLE, nth=2),
        to=IPV6,
    ),
    perf("fetch_add", "ib_atomic_bw -A FETCH_AND_ADD -n 10", "FETCH ADD"),
    perf(
        "compare_swap_lost",
        "ib_atomic_bw -A CMP_AND_SWAP -n 10",
        "COMPARE SWAP with a lost request and a lost response: atomics replayed",
        lost(SERVER, COMPARE_SWAP, nth=3),
        lost(CLIENT, ATOMIC_ACKNOWLEDGE, nth=6, recorded=True),
    ),
    perf("send_rnr", "ib_send_bw -m 1024 -s 1500 -n 8 -r 1", "RNR NAKs"),
    perf("send_uc", "ib_send_bw -c UC -m 1024 -s 3000 -n 5", "UC SEND in one direction"),
    perf("send_ud", "ib_send_bw -c UD -m 1024 -s 600 -n 5", "UD SEND in one direction"),
)

_BY_CM = (
    by_cm("rping", *_RPING, "rping -C 5 -S 100 -V", "CM exchange, SEND, READ, WRITE"),
    by_cm(
        "rping_ipv6_lost",
        *_RPING_IPV6,
        "rping -C 5 -S 5000 -V",
        "CM over IPv6, MTU 4096, a lost READ response and a lost WRITE",
        lost(SERVER, READ_LAST, nth=2),
        lost(CLIENT, WRITE_FIRST, nth=4),
    ),
    by_cm(
        "rping_lost_cm",
        *_RPING,
        "rping -C 2 -S 64 -V",
        "a lost CM REQ and a lost REP: the CM repeats itself",
        lost(SERVER, UD_SEND, recorded=True),
        lost(CLIENT, UD_SEND, recorded=True),
    ),
    by_cm("ucmatose", *_BOUND, "ucmatose -c 3 -C 4 -S 1000", "three CM connections at once"),
    by_cm("udaddy", *_BOUND, "udaddy -c 2 -C 4 -S 700", "CM service resolution (SIDR), UD"),
    by_cm("rstream", *_BOUND, "rstream -S 3000 -C 3 -I 2", "rsockets: WRITE with immediate"),
    multicast("mckey", "mckey -C 4 -S 60", "UD multicast with immediate"),
)

_FAILURES = tuple(
    failing(scenario)
    for scenario in (
        expecting(
            pingpong("nak_send", "ibv_rc_pingpong -s 3000 -n 3", "SEND longer than its buffer"),
            size=100,
        ),
        expecting(
            perf("nak_write", "ib_write_bw -m 1024 -s 9000 -n 5", "WRITE out of bounds"),
            size=64,
        ),
        expecting(
            perf("nak_read", "ib_read_bw -m 1024 -s 9000 -n 5", "READ out of bounds"),
            size=64,
        ),
        ended(
            by_cm(
                "retry_exhausted",
                *("{}", "{} " + IPV4),
                "ib_write_bw -R --retry_count=2 -m 1024 -s 8 -n 5 -F -d rxe0",
                "no WRITE arrives: three tries, then the end",
                lost(SERVER, WRITE_ONLY, nth=EVERY, recorded=True),
            )
        ),
    )
)

SCENARIOS = (*_PINGPONGS, *_PERFTESTS, *_BY_CM, *_FAILURES)
