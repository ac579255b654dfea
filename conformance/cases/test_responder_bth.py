# SPDX-License-Identifier: BSD-2-Clause
"""The BTH as a responder reads it: version, P_Key, QPN, service, reserved bits, room for it."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over
from roceproof.conformance.suite.limits.within_limits import require_lack
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    CMP_SWAP,
    FETCH_ADD,
    INVALID_REQUEST,
    NAK,
    READ_REQUEST,
    SEND_ONLY,
    SEND_ONLY_IMM,
    SEND_ONLY_INV,
    UD_SEND_ONLY,
    UD_SEND_ONLY_IMM,
    WRITE_FIRST,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Maker,
    Pattern,
    opcode,
)
from roceproof.conformance.suite.sweep import accepts_each, drops_each
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = RESPONDER

OPCODE_AT = 8
CNP, SERVICE_BITS = 0x81, 0xE0
SHORTEST = 16  # BTH and ICRC
OPTIONAL = (0x04, 0x05, 0x0A, 0x0B, 0x0C, 0x13, 0x14, 0x17)
RESERVED = (0x15, 0x18, 0x19, 0x1A, 0x1B, 0x1E, 0x1F)
WITH_HEADERS = {
    SEND_ONLY_IMM: 4,
    SEND_ONLY_INV: 4,
    WRITE_FIRST: 16,
    WRITE_ONLY: 16,
    WRITE_ONLY_IMM: 20,
    READ_REQUEST: 16,
    CMP_SWAP: 28,
    FETCH_ADD: 28,
}


def of_other_services(packet: Pattern, service: Service) -> dict[str, Pattern]:
    """The packet with every opcode of every service but one; a CNP belongs to any connection."""
    return {
        f"opcode {value:#04x}": packet.resealed(edits.set_udp(OPCODE_AT, bytes([value])))
        for value in range(256)
        if value & SERVICE_BITS != service << 5 and value != CNP
    }


@case("BTH-05", smoke=True)
def test_another_transport_version_drops_the_packet(bench: Bench) -> None:
    drops_each(bench, {f"TVer {v}": WRITE_ONLY(psn=0, a=1, tver=v) for v in range(1, 16)})


@case("BTH-07", smoke=True)
def test_a_partition_key_of_a_full_or_limited_member_matches(bench: Bench) -> None:
    accepts_each(bench.connect(), [WRITE_ONLY(pkey=0x7FFF), WRITE_ONLY(pkey=0xFFFF)])


@case("BTH-07", smoke=True)
def test_another_partition_key_drops_the_packet(bench: Bench) -> None:
    others = [0xFFFE, 0x7FFE, 0x0000, 0x8000, 0x1234, *(0xFFFF ^ 1 << bit for bit in range(15))]
    drops_each(bench, {f"P_Key {k:#06x}": WRITE_ONLY(psn=0, a=1, pkey=k) for k in others})


@case("BTH-09", smoke=True)
def test_reserved_bits_are_ignored(bench: Bench) -> None:
    packets = [
        *(WRITE_ONLY(resv6=1 << bit) for bit in range(6)),
        *(WRITE_ONLY(resv7=1 << bit) for bit in range(7)),
        WRITE_ONLY(resv6=0x3F, resv7=0x7F),
    ]
    accepts_each(bench.connect(), packets)


@case("BTH-11", smoke=True)
def test_a_qpn_that_nobody_has_drops_the_packet(bench: Bench) -> None:
    qp = bench.connect()
    own = qp.qp.qpn
    strangers = {0, 0xFFFFFE, *(own ^ 1 << bit for bit in range(24))}
    qp.drops(*(WRITE_ONLY(psn=0, a=1, qpn=qpn) for qpn in sorted(strangers)), fence=0)


@case("BTH-12", smoke=True)
def test_an_opcode_of_another_service_is_dropped_on_rc(bench: Bench) -> None:
    drops_each(bench, of_other_services(WRITE_ONLY(psn=0, a=1), Service.RC))


@case("BTH-12", needs=[Capability.UC])
def test_an_opcode_of_another_service_is_dropped_on_uc(bench: Bench) -> None:
    qp = bench.connect(Service.UC)
    region = qp.region()
    write = WRITE_ONLY(psn=0, payload=8, a=1, **at(region))
    qp.drops(*of_other_services(write, Service.UC).values(), fence=0)
    assert region.read(0, 8) == bytes(8)


@case("BTH-12", smoke=True, needs=[Capability.UD])
def test_an_opcode_of_another_service_is_dropped_on_ud(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    number = qp.post_receive(qp.region())
    for packet in of_other_services(UD_SEND_ONLY(payload=8, a=1), Service.UD).values():
        bench.send(qp.frame(packet), is_void=True)
    qp.send(UD_SEND_ONLY(payload=24))
    qp.receives(number, byte_len=64)
    qp.expect_silence()


@case("BTH-13")
@over("value", RESERVED, ids=[f"{value:#04x}" for value in RESERVED])
def test_a_reserved_opcode_in_sequence_draws_a_nak(bench: Bench, value: int) -> None:
    qp = bench.connect()
    good = READ_REQUEST if qp.executes(Op.READ) else WRITE_ONLY
    qp.send(opcode(value, psn=0, payload=16, a=1), good(psn=0))
    qp.expect(NAK(INVALID_REQUEST, psn=0, msn=0))


@case("NAK-07", "OPC-13")
@over("value", OPTIONAL, ids=[OPCODES[value].name.lower().replace(" ", "_") for value in OPTIONAL])
def test_an_operation_that_it_does_not_have_draws_a_nak(bench: Bench, value: int) -> None:
    require_lack(bench.claims, Service.RC, OPCODES[value])
    qp = bench.connect()
    size = 8 if OPCODES[value].payload.admits(8, qp.mtu) else 0
    request = opcode(value, psn=0, payload=size, a=1, dmalen=8, **at(qp.region()))
    bench.send(qp.frame(request))
    qp.expect(NAK(INVALID_REQUEST, psn=0, msn=0))


@case("BTH-15", smoke=True)
def test_the_migration_bit_may_change_from_packet_to_packet(bench: Bench) -> None:
    accepts_each(bench.connect(), [WRITE_ONLY(m=m) for m in (1, 0, 1, 1, 0, 0)])


@case("BTH-16")
@over("maker", WITH_HEADERS, ids=[maker.__name__ for maker in WITH_HEADERS])
def test_a_packet_that_ends_inside_its_headers_is_dropped_or_refused(
    bench: Bench, maker: Maker
) -> None:
    packet = maker(psn=0, a=1, **at(bench.target.register(64)))
    qp = bench.connect()
    for size in range(SHORTEST, SHORTEST + WITH_HEADERS[maker]):
        qp.reconnect()
        qp.send(packet.resealed(edits.truncate(size)))
        answer = qp.next(quiet=True)
        if answer is None:
            qp.fence(0)
        elif answer.aeth is None or answer.aeth.syndrome != 0x60 | INVALID_REQUEST:
            raise bench.failed(f"not dropped: {size} bytes behind UDP")


@case("BTH-16")
@over("size", range(SHORTEST))
def test_a_packet_without_room_for_bth_and_icrc_is_dropped(bench: Bench, size: int) -> None:
    bench.connect().drops(SEND_ONLY(psn=0, a=1).resealed(edits.truncate(size)), fence=0)


@case("BTH-16", smoke=True, needs=[Capability.UD])
@over("maker", [UD_SEND_ONLY, UD_SEND_ONLY_IMM], ids=["UD_SEND_ONLY", "UD_SEND_ONLY_IMM"])
def test_a_datagram_that_ends_inside_its_headers_is_dropped(bench: Bench, maker: Maker) -> None:
    qp = bench.connect(Service.UD)
    number = qp.post_receive(qp.region())
    headers = 8 if maker is UD_SEND_ONLY else 12
    for size in range(SHORTEST, SHORTEST + headers):
        bench.send(qp.frame(maker().resealed(edits.truncate(size))), is_void=True)
    qp.send(UD_SEND_ONLY(payload=24))
    qp.receives(number, byte_len=64)
