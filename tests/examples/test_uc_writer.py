# SPDX-License-Identifier: BSD-2-Clause
"""The example transmitter sends what the reference transmitter says, and refuses the rest."""

from __future__ import annotations

from functools import partial

import pytest
from endpoint_bench import PEER_IPV4, PEER_MAC, PORT_IPV4
from example_bench import Example, uc
from test_arp_ping import arp_reply, ask, assert_echo_reply

from roceproof.conformance.wire.ip import Ipv4
from roceproof.dpi import Flow, Until
from roceproof.dpi.contract.records import Operation, QpCommand, QpConfig, Status, WorkRequest
from roceproof.verbs.addresses import parse_gid, parse_mac
from roceproof.verbs.service import PathMtu, Service

pytestmark = pytest.mark.sim

WRITES = (Operation.WRITE, Operation.WRITE_IMM)
LIMIT = 2_000_000
OWN_IPV4 = parse_gid(PORT_IPV4)[-4:]
HOST_MAC, HOST_IPV4 = parse_mac(PEER_MAC), parse_gid(PEER_IPV4)[-4:]


def test_every_length_from_zero_to_seventy_at_every_offset(example: Example) -> None:
    config = uc()
    example.activate(config)
    for length in range(71):
        for offset in range(example.lanes):
            operation = WRITES[(length + offset) % 2]
            example.post(config, operation, length, offset=offset, solicited=length % 3 == 0)
    example.settle(limit=LIMIT)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("path_mtu", PathMtu, ids=lambda mtu: str(mtu.size))
def test_lengths_around_multiples_of_the_path_mtu(example: Example, path_mtu: PathMtu) -> None:
    config = uc(path_mtu=path_mtu, sq_psn=0xFFFFF0, ip_id=0xFFFA)
    example.activate(config)
    for count in (1, 2, 3):
        for length in range(count * path_mtu.size - 5, count * path_mtu.size + 6):
            offset = example.random.randrange(example.lanes)
            example.post(config, WRITES[length % 2], length, offset=offset, solicited=True)
    example.settle(limit=LIMIT)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("start", [0x00FFFE, 0x12FFFE, 0xFEFFFE, 0xFFFFFE], ids=hex)
def test_the_psn_carries_through_all_its_bits(example: Example, start: int) -> None:
    config = uc(sq_psn=start)
    example.activate(config)
    example.post(config, Operation.WRITE, 1200)
    example.settle()


def test_two_queue_pairs_keep_to_themselves(example: Example) -> None:
    near = uc(0, sq_psn=0xFFFFFD)
    far = uc(
        1,
        path_mtu=PathMtu.MTU_4096,
        remote_mac="02:00:00:00:77:07",
        remote_gid="10.1.2.3",
        traffic_class=0xB8,
        hop_limit=1,
    )
    example.activate(near, far)
    for index in range(40):
        length = example.random.randrange(9000 if index % 3 else 40)
        example.post((near, far)[index % 2], WRITES[index // 2 % 2], length, offset=index % 8)
    example.settle(limit=LIMIT)


def test_stalls_and_gaps_change_no_byte(example: Example) -> None:
    example.port.flow(Flow(tx_stall=60, payload_gap=60, wr_gap=40, cpl_stall=60, qpc_gap=40))
    config = uc()
    example.activate(config)
    for length in range(0, 1200, 37):
        example.post(config, WRITES[length % 2], length, offset=length % 8)
    example.settle(limit=LIMIT)


def test_a_message_completes_when_its_last_frame_has_left(example: Example) -> None:
    example.port.flow(Flow(tx_stall=97))
    config = uc()
    example.activate(config)
    request = example.post(config, Operation.WRITE, 300)
    example.settle(limit=LIMIT)
    last = example.frames_expected(config)[-1]
    assert example.completion_cycles[request.wr_id] > example.frame_cycles[last]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "config",
    [
        uc(service=Service.RC),
        uc(service=Service.UD),
        uc(remote_gid="2001:db8::1"),
        uc(command=QpCommand.RESET),
    ],
    ids=["RC", "UD", "IPv6", "reset"],
)
def test_a_queue_pair_that_the_core_cannot_run_refuses_its_work(
    example: Example, config: QpConfig
) -> None:
    other = uc(1)
    example.activate(uc(), other)
    example.activate(config)
    for length in (0, 3, 100):
        example.post(
            config, Operation.WRITE, length, outcome=Status.LOC_QP_OP_ERR, sends=False, offset=5
        )
        example.post(other, Operation.WRITE, length + 1)
    example.settle()


def test_sends_are_refused_and_use_no_psn(example: Example) -> None:
    config = uc()
    example.activate(config)
    for length, operation in enumerate((Operation.SEND, Operation.SEND_IMM) * 8):
        example.post(config, operation, length, outcome=Status.LOC_QP_OP_ERR, sends=False)
        example.post(config, Operation.WRITE, length)
    example.settle()


def test_a_queue_pair_never_configured_refuses_its_work(example: Example) -> None:
    config = uc(1)
    example.activate(config)
    example.post(uc(3), Operation.WRITE, 30, outcome=Status.LOC_QP_OP_ERR, sends=False)
    example.post(config, Operation.WRITE, 30)
    example.settle()


def test_a_length_above_two_to_the_31_is_refused(example: Example) -> None:
    config = uc()
    example.activate(config)
    request = WorkRequest(
        wr_id=99, qpn=config.local_qpn, operation=Operation.WRITE, length=(1 << 31) + 1
    )
    example.port.post(request, payload=bytes(8))
    example.run(10_000, until=Until.COMPLETION)
    (completion,) = example.completions
    assert (completion.wr_id, completion.status) == (99, Status.LOC_LEN_ERR)
    example.completions.clear()
    example.post(config, Operation.WRITE, 100)
    example.settle()


def test_arp_and_ping_are_answered_during_traffic(example: Example) -> None:
    config = uc(path_mtu=PathMtu.MTU_4096)
    example.activate(config)
    for index in range(24):
        example.post(config, WRITES[index % 2], 5000 + index)
    arp = example.peer.arp_request(sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4, target=OWN_IPV4)
    for length in (*range(0, 70, 3), 1472, 8972):
        ping = example.peer.echo(
            example.random.randbytes(length), sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4
        )
        replies = ask(example, arp, ping)
        replies.remove(arp_reply(HOST_MAC, HOST_IPV4))
        (echo,) = replies
        assert_echo_reply(ping, echo)
    example.settle(limit=LIMIT)


def test_frames_for_others_and_broken_ones_are_not_answered(example: Example) -> None:
    echo = partial(example.peer.echo, b"0123456789" * 9, sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4)
    ping, stranger = echo(), parse_gid("192.168.1.9")[-4:]
    fragment = Ipv4(HOST_IPV4, OWN_IPV4, fragment=0x2000)
    for frame in (
        example.peer.arp_request(sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4, target=stranger),
        echo(target=stranger),
        echo(reply=True),
        b"\x02\0\0\0\x44\x44" + ping[6:],
        ping[:-1],
        ping[:24] + bytes([ping[24] ^ 1]) + ping[25:],  # header checksum
        ping[:14] + fragment.pack(payload_length=len(ping) - 34, protocol=1) + ping[34:],
    ):
        example.port.inject(frame)
        example.run(300)
    example.port.inject(ping, discard=True)
    example.run(300)
    assert example.other_frames == []
    (answer,) = ask(example, ping)
    assert_echo_reply(ping, answer)
