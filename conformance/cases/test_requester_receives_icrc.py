# SPDX-License-Identifier: BSD-2-Clause
"""What a requester makes of the ICRC of the responses that reach it.

One with a wrong ICRC never came: a good one behind it completes the message. Whatever the mask
hides may hold anything.
"""

from roceproof.conformance.faults.icrc.catalogue import engine_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.pattern import READ_RESP_ONLY, Pattern
from roceproof.conformance.suite.sweep import (
    FIRST_ACK,
    bit_flips,
    completes_with_each,
    ignores_each,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE)]

BTH, ICRC = 8, 24  # of an ACK, behind the start of UDP
MASKED_IN_IP, MASKED_IN_UDP = {1, 8, 10, 11}, {6, 7, BTH + 4}
SHOWN_BY_AN_ACK = (
    *("S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09", "S11", "S12", "S13", "S14"),
    *("S15", "S17", "S18", "S19", "S20", "S21", "S22", "S23", "S24", "S25", "S26", "S28", "S29"),
    *("S32", "S33", "S34", "S35", "S36", "S37", "S38", "S39", "S40", "S41", "S43", "S44", "S45"),
    *("S46", "S47", "S50", "S52"),
)


def with_fault(fault: str) -> Pattern:
    """The ACK with the ICRC that a misimplementation gives it."""

    def edit(frame: bytearray) -> None:
        frame[:] = engine_of(fault).transmit(0, bytes(frame))

    return FIRST_ACK.but(ident=0x1A2B, tos=0x6A & ~3).corrupted(edit)


@case("ICRC-12", smoke=True)
def test_an_ack_with_a_flipped_bit_behind_ip_is_ignored(bench: Bench) -> None:
    covered = set(range(ICRC + 4)) - MASKED_IN_UDP
    ignores_each(bench, bit_flips(FIRST_ACK, edits.flip_udp, sorted(covered)))


@case("ICRC-12", smoke=True)
def test_an_ack_with_a_flipped_bit_of_ip_is_ignored(bench: Bench) -> None:
    covered = set(range(20)) - MASKED_IN_IP
    ignores_each(bench, bit_flips(FIRST_ACK, edits.flip_ip_checksummed, sorted(covered)))


@case("ICRC-11", smoke=True)
def test_an_ack_with_a_flipped_bit_beside_ackreq_is_ignored(bench: Bench) -> None:
    ignores_each(bench, bit_flips(FIRST_ACK, edits.flip_udp, [BTH + 8]))


@case("ICRC-13", smoke=True)
def test_masked_fields_of_an_ack_may_hold_anything(bench: Bench) -> None:
    draw = bench.random
    values = [(0, 1, 0), (0xFE, 0xFF, 0xFF)]
    values += [(draw.getrandbits(6) << 2, draw.randrange(1, 256), 1 << bit) for bit in range(8)]
    completes_with_each(
        bench.connect(),
        [
            FIRST_ACK.but(tos=tos, ttl=ttl).corrupted(edits.set_udp(BTH + 4, bytes([byte4])))
            for tos, ttl, byte4 in values
        ],
    )


@case("ICRC-14", smoke=True)
@over("fields", [(0x1F, 1), (0x60, 0), (0x62, 0), (0x2C, 0)], ids=["ACK", "NAK", "fatal", "RNR"])
def test_a_response_with_a_wrong_icrc_never_came(bench: Bench, fields: tuple[int, int]) -> None:
    syndrome, msn = fields
    corrupted = FIRST_ACK.but(syndrome=syndrome, msn=msn).corrupted(edits.bad_icrc(0x80000000))
    ignores_each(bench, {"first": corrupted})


@case("ICRC-15", needs=[Capability.READ, Capability.MEMORY], smoke=True)
def test_read_data_with_a_wrong_icrc_never_reaches_memory(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(64)
    before = bench.random.randbytes(64)
    region.write(0, before)
    message = qp.post(Op.READ, 64, into=region)
    qp.expect_message(message)
    answer = qp.filled(READ_RESP_ONLY(psn=0, msn=1, payload=64))
    qp.send(answer.corrupted(edits.bad_icrc()))
    qp.does_not_complete()
    assert region.read(0, 64) == before
    qp.send(answer)
    qp.completes(message)
    assert region.read(0, 64) == answer.said["payload"]


@case("ICRC-07", needs=[Capability.READ], smoke=True)
@over("length", [1, 2, 3])
def test_a_flipped_pad_bit_of_a_response_drops_it(bench: Bench, length: int) -> None:
    qp = bench.connect()
    message = qp.post(Op.READ, length)
    qp.expect_message(message)
    answer = qp.filled(READ_RESP_ONLY(psn=0, msn=1, payload=length))
    qp.send(*bit_flips(answer, edits.flip_end, range(1, 4 - length + 1)).values())
    qp.does_not_complete()
    qp.send(answer)
    qp.completes(message)


@case("ICRC-20", "ICRC-21", smoke=True)
def test_an_icrc_over_unmasked_headers_is_wrong(bench: Bench) -> None:
    ignores_each(bench, {"unmasked": with_fault("S06")})


@case("ICRC-21")
@over("fault", SHOWN_BY_AN_ACK)
def test_an_ack_as_a_faulty_core_would_seal_it_is_ignored(bench: Bench, fault: str) -> None:
    ignores_each(bench, {fault: with_fault(fault)})
