# SPDX-License-Identifier: BSD-2-Clause
"""Every region of a device is crossed at each power of two of its addresses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.cases import test_responder_addresses as cases
from roceproof.conformance.model.components import Components
from roceproof.conformance.mutants.wire import wire_mutants
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.limited import LimitedModelFactory
from roceproof.dpi import load_manifest
from roceproof.verbs.work import Op

BYTE_ENDPOINT = REPOSITORY / "examples" / "byte_endpoint" / "dut.toml"


CASES = (
    cases.test_every_power_of_two_of_an_address_is_crossed,
    cases.test_every_power_of_two_of_a_length_is_passed,
)


def play(case: Callable[..., None], op: Op, components: Components | None = None) -> None:
    """On the model with the regions of a manifest."""
    factory = LimitedModelFactory(load_manifest(BYTE_ENDPOINT), components)
    with factory.device(CasePlace(name="crossing", seed=1)) as target:
        bench = Bench(target, factory.claims, seed=1)
        case(bench, op)


def test_bits_are_carried_into_where_a_region_begins_for_peers_and_in_the_device() -> None:
    assert cases.crossings([0], 4096) == [256, 512, 1024, 2048]
    assert cases.crossings([0, 0x4800], 13312) == [256, 512, 1024, 2048, 4096, 6144, 8192]
    assert cases.crossings([0x100], 4096) == [256, 512, 768, 1792, 3840]


@pytest.mark.parametrize("op", [Op.WRITE, Op.SEND])
@pytest.mark.parametrize("case", CASES)
def test_a_right_device_passes(case: Callable[..., None], op: Op) -> None:
    play(case, op)


@pytest.mark.parametrize(
    ("case", "fault", "words", "rules"),
    [
        (CASES[0], "rc-page-wraps", "on left other bytes from 0x", ("RETH-12",)),
        (CASES[1], "rc-left-in-12-bits", "syndrome: want ACK, got 0x61", ()),
    ],
)
def test_a_device_that_keeps_too_few_bits_is_found(
    case: Callable[..., None], fault: str, words: str, rules: tuple[str, ...]
) -> None:
    faulty = wire_mutants()[fault].components
    assert faulty is not None
    with pytest.raises(CaseFailed, match=words) as raised:
        play(case, Op.WRITE, faulty())
    assert raised.value.rules == rules
