# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration's verdict: each way in which a message can fail to land is seen."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.demo.plan import Message, lengths, packets, plan
from roceproof.conformance.demo.receiver import Landing
from roceproof.dpi import Operation, PathMtu, Service, load_manifest

MESSAGE = Message(operation=Operation.SEND_IMM, payload=b"detector", immediate=7)
LANDED = Landing(
    sha256=hashlib.sha256(b"detector").hexdigest(),
    immediate=7,
    byte_len=8,
    guards_intact=True,
    problem=None,
)


def test_a_message_that_arrived_whole_lacks_nothing() -> None:
    assert LANDED.lack(MESSAGE) is None


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        ({"sha256": "0" * 64}, "bytes differ"),
        ({"immediate": 8}, "immediate"),
        ({"immediate": None}, "immediate"),
        ({"byte_len": 7}, "counts 7"),
        ({"guards_intact": False}, "overwritten"),
        ({"problem": "no receive completion"}, "no receive"),
    ],
)
def test_a_damaged_landing_says_what_is_wrong(damage, word) -> None:
    assert word in (replace(LANDED, **damage).lack(MESSAGE) or "")


def test_lengths_sit_on_every_packet_boundary() -> None:
    assert lengths(1024, short=False) == [
        *range(6), 1023, 1024, 1025, 2048, 3079, 65549, 1048577,
    ]  # fmt: skip


def test_an_empty_message_takes_one_psn() -> None:
    assert [packets(length, 256) for length in (0, 1, 256, 257)] == [1, 1, 1, 2]


def test_a_device_is_asked_only_for_what_its_manifest_claims() -> None:
    reference = load_manifest(REFERENCE_DUT)
    modest = replace(
        reference.capabilities,
        services=frozenset({Service.UC}),
        operations=frozenset({Operation.WRITE}),
        path_mtus=frozenset({PathMtu.MTU_4096}),
    )
    (connection,) = plan(seed=1, device=replace(reference, capabilities=modest))
    assert (connection.service, connection.path_mtu) == (Service.UC, PathMtu.MTU_4096)
    assert {message.operation for message in connection.messages} == {Operation.WRITE}


@pytest.mark.parametrize("nothing", ["services", "operations", "path_mtus"])
def test_a_device_that_claims_nothing_sent_here_is_refused(nothing) -> None:
    reference = load_manifest(REFERENCE_DUT)
    claimed = replace(reference.capabilities, **{nothing: frozenset()})
    with pytest.raises(RoceproofError, match="claims nothing"):
        list(plan(seed=1, device=replace(reference, capabilities=claimed)))
