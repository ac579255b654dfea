# SPDX-License-Identifier: BSD-2-Clause
"""Every region of a device is crossed at each power of two of its addresses."""

from __future__ import annotations

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.cases import test_responder_addresses as cases
from roceproof.conformance.model.components import Components
from roceproof.conformance.mutants.wire import wire_mutants
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.limited_model import LimitedModelFactory
from roceproof.dpi import load_manifest
from roceproof.verbs.work import Op

BYTE_ENDPOINT = REPOSITORY / "examples" / "byte_endpoint" / "dut.toml"


def cross(op: Op, components: Components | None = None) -> None:
    """Play the case on the model with the regions of a manifest."""
    factory = LimitedModelFactory(load_manifest(BYTE_ENDPOINT), components)
    with factory.device(CasePlace(name="crossing", seed=1)) as target:
        bench = Bench(target, factory.claims, seed=1)
        cases.test_every_power_of_two_of_an_address_is_crossed(bench, op)


def test_bits_are_carried_into_where_a_region_begins_for_peers_and_in_the_device() -> None:
    assert cases.crossings([0], 4096) == [256, 512, 1024, 2048]
    assert cases.crossings([0, 0x4800], 13312) == [256, 512, 1024, 2048, 4096, 6144, 8192]
    assert cases.crossings([0x100], 4096) == [256, 512, 768, 1792, 3840]


@pytest.mark.parametrize("op", [Op.WRITE, Op.SEND])
def test_a_right_device_passes(op: Op) -> None:
    cross(op)


def test_one_that_wraps_at_4_kib_is_found_by_its_built_in_regions() -> None:
    faulty = wire_mutants()["rc-page-wraps"].components
    assert faulty is not None
    with pytest.raises(CaseFailed, match="on left other bytes from 0x") as raised:
        cross(Op.WRITE, faulty())
    assert raised.value.rules == ("RETH-12",)
