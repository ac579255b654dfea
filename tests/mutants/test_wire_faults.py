# SPDX-License-Identifier: BSD-2-Clause
"""Wire faults: declared rightly, and frames that stay whole when they are changed."""

from __future__ import annotations

import pytest

from roceproof.conformance.matrix.candidates import candidates
from roceproof.conformance.model.components import Components
from roceproof.conformance.mutants.frames import (
    edited,
    inserted,
    removed,
    request_of,
    response_of,
    with_bth,
)
from roceproof.conformance.mutants.renumbering import Renumbered, Sent
from roceproof.conformance.mutants.wire import (
    WireFault,
    WireMutant,
    WireMutantError,
    model_mutant,
    wire_mutant,
    wire_mutants,
)
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import Aeth, Bth, Reth
from roceproof.conformance.wire.ip import Ipv4

HERE, THERE = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
BEHIND_BTH = 20


def frame(opcode: int, psn: int, payload: bytes = b"", *, sport: int = 0xC000) -> bytes:
    headers = {0x0A: (Reth(1, 2, len(payload)),), 0x11: (Aeth(0x1F, 1),)}
    return build(
        Packet(
            dst_mac=b"\x02" + bytes(5),
            src_mac=b"\x04" + bytes(5),
            ip=Ipv4(HERE, THERE),
            udp_sport=sport,
            bth=Bth(opcode, 0x11, psn),
            extensions=headers.get(opcode, ()),
            payload=payload,
        )
    )


def psn_of(sent: bytes) -> int:
    packet = parse(sent)
    assert packet is not None
    return packet.bth.psn


def test_a_changed_frame_is_sealed_anew_but_a_bad_one_stays_bad() -> None:
    good = frame(0x0A, 7, b"abcd")
    bad = good[:-1] + bytes([good[-1] ^ 1])
    assert icrc.check(with_bth(good, psn=8)).judgement is icrc.Judgement.OK
    assert icrc.check(with_bth(bad, psn=8)).judgement is icrc.Judgement.BAD


def test_bytes_go_in_and_come_out_with_all_lengths() -> None:
    plain = frame(0x04, 7, b"abcdefgh")
    longer = edited(plain, inserted(BEHIND_BTH, b"1234"))
    packet = parse(longer)
    assert packet is not None and packet.fault is None and packet.payload == b"1234abcdefgh"
    assert icrc.check(longer).judgement is icrc.Judgement.OK
    assert edited(longer, removed(BEHIND_BTH, 4)) == plain


@pytest.mark.parametrize(
    ("opcode", "is_request", "is_response"),
    [(0x0A, True, False), (0x15, True, False), (0x11, False, True), (0x81, False, False)],
)
def test_requests_responses_and_notifications_are_told_apart(
    opcode: int, is_request: bool, is_response: bool
) -> None:
    sent = frame(opcode, 0)
    assert (request_of(sent) is not None, response_of(sent) is not None) == (
        is_request,
        is_response,
    )


class TwoByTwo(Renumbered):
    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        return 2 * due


def test_a_renumbered_request_keeps_its_number_and_its_answer_is_translated() -> None:
    fault = TwoByTwo()
    numbers = [psn_of(fault.sent(frame(0x04, psn), 0)[0]) for psn in (5, 6, 7, 6)]
    assert numbers == [5, 7, 9, 7]
    assert psn_of(fault.received(frame(0x11, 9), 0)[0]) == 7


def test_a_new_connection_is_numbered_anew_and_a_flow_by_itself() -> None:
    fault = TwoByTwo()
    numbers = [psn_of(fault.sent(frame(0x04, psn), 0)[0]) for psn in (5, 6, 0x500000, 0x500001)]
    assert numbers == [5, 7, 0x500000, 0x500002]
    assert psn_of(fault.sent(frame(0x04, 9, sport=0xC001), 0)[0]) == 9


def test_a_fault_that_names_no_rule_is_refused() -> None:
    for rules in ([], ["NONE-1"]):
        with pytest.raises(WireMutantError, match="give ids"):
            wire_mutant("without-rule", expected=rules)(WireFault)


def test_a_fault_without_a_docstring_is_refused() -> None:
    class Undescribed(WireFault):
        pass

    with pytest.raises(WireMutantError, match=r"untold: what is wrong is not said"):
        wire_mutant("untold", expected=["BTH-01"])(Undescribed)


def test_the_first_paragraph_of_the_docstring_describes_a_fault() -> None:
    described = wire_mutants()["short-headers-filled-up"].description
    assert described == (
        "A packet that ends in its headers is read on in what the buffer held before."
    )


def test_two_faults_of_one_name_are_refused() -> None:
    name = next(iter(wire_mutants()))
    with pytest.raises(WireMutantError, match="two wire mutants"):
        model_mutant(name, expected=["BTH-01"])(Components)


def test_a_fault_says_whether_it_lies_in_the_wire_or_in_the_model() -> None:
    assert WireMutant("a", "", ("BTH-01",), ()).kind == "wire"
    assert WireMutant("b", "", ("BTH-01",), (), components=Components).kind == "model"
    kinds = {"rtl", "responder", "mac", "recovery", "ipv6", "reads", "vlan", "wire", "model"}
    assert {candidate.kind for candidate in candidates()} == kinds
