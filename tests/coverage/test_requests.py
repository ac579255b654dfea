# SPDX-License-Identifier: BSD-2-Clause
"""Requests to a responder hit the bins of where they stand, and of why they are refused."""

from __future__ import annotations

import pytest
from scripted import PEER, active, counted, packet

from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.samplers.requests import answer_to, edges_of
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.coverage.table import load_table
from roceproof.conformance.targets.bus_events import (
    Disturbed,
    Movement,
    Provided,
    Received,
    Registered,
    Sent,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.wire.headers import Aeth, AtomicEth, Deth, Ieth, Reth
from roceproof.dpi.session.options import Flow
from roceproof.verbs.limits import Limits
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

QPN, KEY, VA = 0x11, 0x77, 0x1000
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY = 0x00, 0x01, 0x02, 0x04
WRITE_FIRST, WRITE_LAST, WRITE_ONLY, READ, CMP_SWAP = 0x06, 0x08, 0x0A, 0x0C, 0x13
UC, UD_SEND_ONLY, SEND_ONLY_INV = 0x20, 0x64, 0x17
REGION = Registered(KEY, VA, 1024, FULL_ACCESS)
RECEIVE = Provided(QPN, KEY, VA, 600)
FIRST_PSN = 1000
RC = active(QPN, rq_psn=FIRST_PSN)


def came(opcode: int, psn: int, *headers, size: int = 0, qpn: int = QPN) -> Received:
    return Received(0, packet(opcode, qpn, FIRST_PSN + psn, *headers, data=bytes(size)))


def wrote(psn: int, size: int = 8, *, va: int = VA, length: int | None = None, key: int = KEY):
    said = size if length is None else length
    return came(WRITE_ONLY, psn, Reth(va, key, said), size=size)


def read(psn: int, length: int) -> Received:
    return came(READ, psn, Reth(VA, KEY, length))


def said(syndrome: int, psn: int, msn: int = 1) -> Sent:
    return Sent(0, packet(0x11, QPN + 0x100, FIRST_PSN + psn, Aeth(syndrome, msn)))


def names(counts: Counts, point: str) -> set[str]:
    return {name for name, times in counts.hits(f"responder.{point}").items() if times}


def test_messages_in_their_place_have_lengths_and_lanes() -> None:
    counts = counted(
        RC,
        REGION,
        RECEIVE,
        came(SEND_FIRST, 0, size=256),
        came(SEND_LAST, 1, size=5),
        wrote(2, 3, va=VA + 6),
        read(3, 600),
        wrote(6),
    )
    assert names(counts, "request") == {
        *("64/256/RC SEND FIRST", "64/256/RC SEND LAST"),
        *("64/256/RC WRITE ONLY", "64/256/RC READ REQUEST"),
    }
    assert names(counts, "message") == {
        *("RC SEND/256/above", "RC WRITE/256/1..3", "RC READ/256/above", "RC WRITE/256/below"),
    }
    assert names(counts, "first_lane") == {"SEND/64/0", "WRITE/64/6", "READ/64/0", "WRITE/64/0"}
    assert names(counts, "last_lane") >= {"SEND/64/4", "WRITE/64/0", "READ/64/7"}
    assert names(counts, "receives") == {"RC SEND/1"}
    assert names(counts, "read") == {"64/256/3"}
    assert names(counts, "solicited") == {"RC SEND LAST/plain"}


def test_requests_out_of_their_place_are_so_far_ahead_or_behind() -> None:
    counts = counted(RC, REGION, wrote(0), wrote(3), wrote(0), wrote(-300))
    assert names(counts, "ahead") == {"RC/2..3"}
    assert names(counts, "behind") == {"1", "256..65535"}
    assert names(counts, "duplicate") == {"RC WRITE ONLY/1", "RC WRITE ONLY/16.."}
    other = active(QPN, rq_psn=FIRST_PSN, service=Service.UC)
    headers = Reth(VA, KEY, 0)
    assert names(counted(other, REGION, came(UC | WRITE_ONLY, 9, headers)), "ahead") == {"UC/4..15"}


@pytest.mark.parametrize(
    ("refusal", "movements"),
    [
        ("no receive", [came(SEND_ONLY, 0)]),
        ("no FIRST", [came(SEND_MIDDLE, 0, size=256)]),
        ("FIRST inside", [came(WRITE_FIRST, 0, Reth(VA, KEY, 512), size=256), wrote(1)]),
        ("other family", [came(WRITE_FIRST, 0, Reth(VA, KEY, 512), size=256), came(SEND_LAST, 1)]),
        ("size", [wrote(0, 260)]),
        ("longer than any", [read(0, (1 << 31) + 1)]),
        ("more than said", [wrote(0, 8, length=4)]),
        ("less than said", [wrote(0, 8, length=9)]),
        ("receive too short", [Provided(QPN, KEY, VA, 3), came(SEND_ONLY, 0, size=4)]),
        ("receive's memory", [Provided(QPN, 5, VA, 9), came(SEND_ONLY, 0, size=4)]),
        ("unaligned", [came(CMP_SWAP, 0, AtomicEth(VA + 4, KEY, 0, 0))]),
        ("key", [wrote(0, key=KEY + 1)]),
        ("below", [wrote(0, va=VA - 1)]),
        ("above", [wrote(0, va=VA + 1024)]),
        ("across the end", [wrote(0, va=VA + 1020)]),
        ("no such operation", [came(0x1C, 0, Reth(0, 0, 0))]),
    ],
)
def test_a_refusal_counts_with_the_answer_that_it_draws(
    refusal: str, movements: list[Movement]
) -> None:
    psn = len([each for each in movements if isinstance(each, Received)]) - 1
    kind = answer_to(refusal)
    nak = 0x20 if kind == "RNR NAK" else 0x60 | int(kind[-1])
    life = [RC, REGION, *movements]
    assert names(counted(*life, said(nak, psn)), "refusal") == (
        {f"RC/{refusal}"} if refusal != "no such operation" else set()
    )
    assert names(counted(*life), "refusal") == set()
    assert names(counted(*life, said(0x1F, psn)), "refusal") == set()


def test_rights_and_domains_refuse() -> None:
    def of(rights: frozenset[str], *, is_foreign: bool = False, **spec: object) -> set[str]:
        region = Registered(KEY, VA, 64, rights, is_foreign)
        life = [active(QPN, rq_psn=FIRST_PSN, **spec), region, wrote(0)]
        answered = counted(*life, said(0x62, 0)), counted(*life, said(0x61, 0))
        return names(answered[0], "refusal") | names(answered[1], "refusal")

    assert of(FULL_ACCESS) == set()
    assert of(FULL_ACCESS - {"remote_write"}) == {"RC/region: write"}
    assert of(FULL_ACCESS, is_foreign=True) == {"RC/domain"}
    assert of(FULL_ACCESS, access=frozenset()) == {"RC/queue pair: write"}


def test_a_key_that_a_message_kills_names_nothing_any_more() -> None:
    killed = came(SEND_ONLY_INV, 0, Ieth(KEY))
    counts = counted(RC, REGION, RECEIVE, killed, wrote(1), said(0x62, 1))
    assert names(counts, "refusal") == {"RC/key"}


def test_the_device_says_where_it_is() -> None:
    """What is refused here and acknowledged there goes on behind the acknowledgement."""
    counts = counted(RC, wrote(0), said(0x1F, 0, msn=300), wrote(1), said(0x25, 1))
    assert names(counts, "state") == {"RC/RTS"}
    assert names(counts, "msn") - {""} == {"256..65535", "1"}
    last = counted(RC, said(0x1F, 0, msn=0xFFFFFF))
    assert names(last, "msn_at_its_end") == {"16777215"}
    assert names(counts, "rnr_timer") == {"5"}
    dead = counted(RC, REGION, wrote(0), said(0x62, 0), wrote(1))
    assert names(dead, "state") == {"RC/RTS", "RC/ERR"}


def test_states_are_those_of_the_commands() -> None:
    steps = [active(QPN, rq_psn=FIRST_PSN)._replace(command=name) for name in ("init", "rtr")]
    counts = counted(steps[0], RECEIVE, came(SEND_ONLY, 0), steps[1], REGION, came(SEND_ONLY, 0))
    assert names(counts, "state") == {"RC/INIT", "RC/RTR"}
    assert names(counts, "receives") == {"RC SEND/1"}
    assert {n for n in counts.hits("config.command")} == {"RC/init", "RC/rtr"}


def test_strays_are_for_nobody() -> None:
    bad = bytearray(wrote(0).frame)
    bad[-1] ^= 1
    stranger = came(WRITE_ONLY, 0, Reth(VA, KEY, 0)).frame
    assert stranger[26:30] == PEER.ip
    counts = counted(
        RC,
        Received(0, bytes(bad)),
        wrote(0)._replace(is_damaged=True),
        came(UC | WRITE_ONLY, 0, Reth(VA, KEY, 0)),
        came(WRITE_ONLY, 0, Reth(VA, KEY, 0), qpn=QPN + 16),
        came(WRITE_ONLY, 0, Reth(VA, KEY, 0), qpn=QPN + 1),
        came(WRITE_ONLY, 0),
    )
    assert names(counts, "stray") == {
        *("RC/bad ICRC", "RC/damaged", "UC/other service", "RC/alias", "RC/unknown"),
        "RC/cut short",
    }
    life = counted(RC, REGION, wrote(0), active(QPN, rq_psn=9000), wrote(1))
    assert names(life, "stray") == {"RC/life before"}


def test_queue_pairs_share_their_receives_and_leave_them_to_each_other() -> None:
    one, other = (active(n, rq_psn=FIRST_PSN, shared_receive=True) for n in (QPN, QPN + 1))
    take = came(SEND_ONLY, 0, qpn=QPN + 1)
    assert names(counted(one, other, REGION, RECEIVE, take), "receives") == {"RC SEND/1"}
    counts = counted(one, other, REGION, RECEIVE, RECEIVE, one, take, came(SEND_ONLY, 0))
    assert names(counts, "receives") == {"RC SEND/1", "RC SEND/2..3"}


def test_datagrams_have_a_q_key() -> None:
    datagrams = active(QPN, service=Service.UD, qkey=5)
    both = [came(UD_SEND_ONLY, 0, Deth(key, 1), size=4) for key in (5, 6)]
    assert names(counted(datagrams, RECEIVE, *both), "qkey") == {"64/right", "64/wrong"}


def test_reads_are_under_way_until_their_last_response() -> None:
    done = Sent(0, packet(0x10, QPN + 0x100, FIRST_PSN, Aeth(0, 1), data=bytes(8)))
    assert names(counted(RC, REGION, read(0, 8), read(1, 8)), "reads") == {"1", "2..3"}
    assert names(counted(RC, REGION, read(0, 8), done, read(1, 8)), "reads") == {"1"}


def test_pauses_belong_to_the_messages_that_come_meanwhile() -> None:
    counts = counted(RC, REGION, Disturbed(0, Flow(memory_stall=70)), wrote(0))
    assert "64/WRITE/memory_stall/61..80" in names(counts, "stall")


def test_a_device_owes_only_what_it_executes() -> None:
    few = Scope(
        capabilities=frozenset({Capability.RC, Capability.UC}),
        path_mtus=(256,),
        qps=1,
        serves=frozenset({"RC.SEND"}),
    )
    assert [few.allows(f"serves:{name}") for name in ("RC.SEND", "RC.READ", "UC.SEND")] == [
        *(True, False, False),
    ]
    assert few.allows("executes:SEND")
    assert not few.allows("executes:READ")
    assert Scope.from_json(few.to_json()) == few
    old = few.to_json()
    del old["serves"]
    assert Scope.from_json(old).allows("serves:UC.SEND")
    assert not Scope.from_json(old).allows("serves:UD.SEND")


def test_a_device_owes_its_own_messages_only_on_services_on_which_it_sends() -> None:
    claims = Claims(
        target="hdl",
        device="answers-datagrams",
        capabilities=frozenset(Capability),
        limits=Limits(operations={Service.RC: frozenset({Op.WRITE}), Service.UD: frozenset()}),
        data_width=64,
    )
    scope = Scope.of([claims])
    assert [scope.allows(f"sends:{each.name}") for each in Service] == [True, False, False]
    assert Scope.from_json(scope.to_json()) == scope
    owed = {name: {*point.bins(scope)} for name, point in load_table().points.items()}
    assert not [name for name in owed["message.packets"] if "/UD/" in name]
    assert "UD/32" not in owed["message.length_bits"]
    assert "UD/INIT" in owed["responder.state"]


def test_messages_of_many_packets_and_memory_at_the_edges_are_counted() -> None:
    last = Registered(KEY, (1 << 64) - 1024, 1024, FULL_ACCESS)
    across = Registered(KEY + 1, (1 << 32) - 8, 16, FULL_ACCESS)
    assert [*edges_of(0, 1 << 32)] == ["begins at 0", "ends at 2^32"]
    counts = counted(
        RC, last, across, wrote(0, va=last.addr), wrote(1, va=across.addr, key=across.rkey)
    )
    assert names(counts, "edge") == {"WRITE/ends at 2^64", "WRITE/across 2^32"}
    assert not names(counts, "long")
    whole = Registered(KEY, VA, 1 << 20, FULL_ACCESS)
    assert names(counted(RC, whole, read(0, 257 * RC.spec.path_mtu)), "long")
