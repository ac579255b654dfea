# SPDX-License-Identifier: BSD-2-Clause
"""What shows faults of single requests: lengths, lanes, fields, counters, sizes."""

from __future__ import annotations

from endpoint_bench import PEER_IPV4, PORT_IPV4, qp
from mutant_device import Device, Station, at
from proofs import proves, work

from roceproof.dpi import Flow
from roceproof.dpi.contract.records import SENDING, QpCommand
from roceproof.verbs.addresses import parse_gid
from roceproof.verbs.service import PathMtu, Service

SEND, SEND_IMM, WRITE, WRITE_IMM = SENDING


@proves(
    "residue-pad-of-509",
    "residue-carry-at-4096",
    "residue-borrow-at-10",
    "residue-pad-behind-both-headers",
    "residue-udp-length-without-bit-8",
    "cross-udp-length-of-12-bits",
    "cross-longest-frame",
    "cross-empty-uc-write",
    "cross-ecn-beside-pad",
)
@proves(
    "residue-keep-of-30",
    "residue-crc-of-tail-30",
    "width-512-slot-straddles",
    "width-512-zero-bytes-48",
    "width-512-immediate-shift",
    "width-512-both-headers-shift",
    width=512,
)
def lengths(device: Device) -> None:
    """Ends of packets that a table, a carry or a limit may get wrong."""
    config = qp(0, Service.UC, path_mtu=PathMtu.MTU_4096)
    device.activate(config)
    for length in (36, 40, 8, 12, 4040, 208, 509, 1236, 4096, 0):
        work(device, config, SEND, length)
    for operation, length in ((WRITE, 0), (WRITE_IMM, 1), (SEND_IMM, 100), (WRITE_IMM, 4096)):
        work(device, config, operation, length)
    device.run(5_000)


@proves("residue-one-byte-from-top-lane", "residue-one-beat-too-many")
@proves("width-512-rotate-by-32", width=512)
def upper_lanes(device: Device) -> None:
    """Messages that start in the last lanes of a beat."""
    config = qp(0, Service.UC)
    device.activate(config)
    for offset in (device.lanes - 1, 5 * device.lanes // 8):
        for length in (device.lanes + 1, 3 * device.lanes + 1, 200):
            work(device, config, SEND, length, offset=offset)
    device.run(2_000)


@proves("moment-gap-before-last-beat", "moment-carry-into-next-message")
def slow_payload(device: Device) -> None:
    """Payload that comes with gaps, from every lane."""
    config = qp(0, Service.UC)
    device.activate(config)
    for gap in (0, 60, 90):
        device.port.flow(Flow(payload_gap=gap))
        for index in range(12):
            work(device, config, SEND, 1 + 7 * index, offset=(7 + 2 * index) % device.lanes)
        device.run(2_500)


@proves(
    "value-wr-id-bit-40",
    "value-wr-id-of-48-bits",
    "value-address-of-56-bits",
    "value-address-sign-extended",
    "value-rkey-beside-immediate",
    "value-immediate-of-zero",
    "value-ecn-01-as-10",
    "value-dscp-of-five-bits",
    "value-ttl-clipped",
    "value-source-port-ffff",
    "value-start-at-psn-0",
    "value-completion-qpn-of-16-bits",
    "value-answered-qpn-of-20-bits",
    "identity-peer-mac-first-byte",
    "identity-source-in-peers-net",
    "identity-remote-qpn-of-20-bits",
    "identity-context-0",
    "cross-empty-solicited",
    "cross-solicited-uc-last",
    "cross-immediate-on-full-last",
)
def extreme_fields(device: Device) -> None:
    """Fields with their uppermost bits set, or none."""
    for service in (Service.UC, Service.RC):
        config = qp(
            0,
            service,
            local_qpn=0xF10010 + service,
            remote_qpn=0xF23456 + service,
            sq_psn=0,
            traffic_class=0x81,
            hop_limit=255,
            udp_sport=0xFFFF,
            remote_mac="aa:bb:cc:dd:ee:ff",
            remote_gid="10.1.2.3",
        )
        device.activate(config)
        everything = {"wr_id": (1 << 64) - 1, "rkey": (1 << 32) - 1}
        for operation in SENDING:
            for length in (0, 512):
                work(device, config, operation, length, solicited=1, immediate=0, **everything)
                work(device, config, operation, length, remote_addr=0x8000_0010)
            device.run(500)


@proves(
    "cross-multiple-of-4096",
    "cross-ack-req-at-4096",
    "cross-uc-middle-at-2048",
    "cross-64-kib-borrow",
    "life-beat-8192-of-a-message",
)
def long_messages(device: Device) -> None:
    """Messages of several large packets."""
    reliable = qp(0, path_mtu=PathMtu.MTU_4096)
    unreliable = qp(1, Service.UC, path_mtu=PathMtu.MTU_2048)
    device.activate(reliable, unreliable)
    for length in (8192, 5000):
        work(device, reliable, WRITE, length)
        device.run(2_000)
    work(device, unreliable, SEND, 65_636)
    device.run(11_000)


@proves(
    "residue-ip-id-carry",
    "residue-psn-carry-20",
    "residue-last-psn-carry",
    "life-ip-id-skips-0-inside",
    "life-ip-id-skips-0-between",
)
def carries(device: Device) -> None:
    """Counters that carry, inside messages and between them."""
    for ip_id in (0x10FE, 0xFFFE):
        for sq_psn in (0x0FFFFE, 0x000FFE):
            for lengths in ((1000,), (0, 0, 0, 0)):
                config = qp(0, ip_id=ip_id, sq_psn=sq_psn)
                device.activate(config)
                for length in lengths:
                    work(device, config, WRITE, length)
                device.run(600)


@proves("residue-second-carry")
def second_carry(device: Device) -> None:
    """Header checksums whose sum carries once more when it is folded."""
    config = qp(0, Service.UC, traffic_class=0)
    addresses = parse_gid(PORT_IPV4)[-4:] + parse_gid(PEER_IPV4)[-4:]
    words = [0x4500, 44, 0x4000, config.hop_limit << 8 | 17]
    words += [int.from_bytes(addresses[i : i + 2], "big") for i in range(0, 8, 2)]
    found = 0
    for ip_id in range(1 << 16):
        total = sum(words) + ip_id
        if (total & 0xFFFF) + (total >> 16) > 0xFFFF and found < 4:
            found += 1
            device.activate(qp(0, Service.UC, traffic_class=0, ip_id=ip_id))
            work(device, config)
            device.run(128)
    assert found


def beginning(device: Device, length: int) -> None:
    """The first packets of a message, the first of which is acknowledged."""
    config = qp(0, path_mtu=PathMtu.MTU_256)
    device.activate(config)
    work(device, config, WRITE, length)
    device.run(700, answering=False)
    device.receive(device.peer.packet(config, config.sq_psn))


@proves("cross-dma-length-of-24-bits", "cross-16-mib-psns")
def more_than_16_mib(device: Device) -> None:
    """The beginning of a message of one packet more than 16 MiB."""
    beginning(device, (1 << 24) + 256)


@proves("cross-length-bit-27")
def more_than_128_mib(device: Device) -> None:
    """The beginning of a message whose length has one bit set."""
    beginning(device, 1 << 27)


@proves("cross-input-of-65535-beats")
def more_than_65536_beats(device: Device) -> None:
    """The beginning of a message of more beats than sixteen bits count."""
    beginning(device, 65_537 * device.lanes)


@proves("moment-two-refused-in-a-row", "life-refusal-32")
def many_refusals(device: Device) -> None:
    """Work that must not be sent, in a row."""
    config, stranger = qp(0, Service.UC), qp(1)
    device.activate(config)
    for _ in range(34):
        work(device, stranger, WRITE, 100)
    work(device, config, WRITE, 100)
    device.run(3_000)


@proves(
    "moment-solicited-sticks",
    "crosstalk-position-of-next",
    "crosstalk-service-of-former",
    "crosstalk-immediate-of-former",
    "crosstalk-rkey-of-former",
    "crosstalk-mtu-of-former",
)
def taking_turns(device: Device) -> None:
    """Queue pairs that differ in all and take turns without a pause."""
    configs = [qp(0, Service.UC), qp(1, path_mtu=PathMtu.MTU_512)]
    device.activate(*configs)
    for index in range(16):
        work(device, configs[index % 2], WRITE_IMM, 300 * (index // 2 % 2), solicited=index % 2)
    device.run(4_000)


@proves("identity-own-vendor-fixed", "identity-own-vendor-fixed-in-echo")
@at(Station("3c:fd:fe:12:34:56", "10.9.8.7"))
def own_addresses(device: Device) -> None:
    """A device with addresses of another vendor and another net."""
    config = qp(0, Service.UC)
    device.activate(config)
    work(device, config, SEND, 5)
    device.run(200)
    peer_mac = bytes.fromhex("020000000002")
    device.receive(device.peer.echo(b"ping", sender_mac=peer_mac, sender_ipv4=bytes((10, 9, 8, 1))))


@proves(
    "identity-mapped-gid-by-one-word", "identity-work-qpn-of-12-bits", "identity-reset-of-alias"
)
def aliases(device: Device) -> None:
    """QPNs that share a context, and a GID that looks like an IPv4 address in its middle."""
    config = qp(0)
    device.activate(config)
    work(device, qp(0, local_qpn=0x1010), WRITE, 20)
    device.run(300)
    device.port.configure(qp(0, local_qpn=0x110, command=QpCommand.RESET))
    device.run(300)
    work(device, config, WRITE, 20)
    device.run(300)
    other = qp(1, Service.UC, remote_gid="2001:db8::ffff:a01:203")
    device.activate(other)
    work(device, other, WRITE, 20)
    device.run(300)
