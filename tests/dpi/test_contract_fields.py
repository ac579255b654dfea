# SPDX-License-Identifier: BSD-2-Clause
"""Every field of the contract's records is drawn and counted, or it is said why not."""

from __future__ import annotations

from random import Random

import pytest

from roceproof.conformance.targets.records_seen import RecordsSeen, bins_of
from roceproof.dpi.contract.fields import ContractError, bounded, contract_fields
from roceproof.dpi.contract.receive_records import MemoryRegion, PostedReceive, ReceiveCompletion
from roceproof.dpi.contract.records import Operands, QpConfig, WorkRequest

SIZES = {
    "qp_config_t": QpConfig.SIZE,
    "work_request_t": WorkRequest.SIZE,
    "operands_t": Operands.SIZE,
    "memory_region_t": MemoryRegion.SIZE,
    "receive_t": PostedReceive.SIZE,
    "receive_completion_t": ReceiveCompletion.SIZE,
}
FIELDS = [field for fields in contract_fields().values() for field in fields.values()]


def test_the_package_and_the_records_of_python_have_one_layout() -> None:
    for record, fields in contract_fields().items():
        assert sum(field.width for field in fields.values()) == 8 * SIZES[record], record
    region = MemoryRegion(lkey=3, rkey=5, va=7, length=11, base=13, pd=17)
    value = int.from_bytes(region.pack())
    found = {name: field.of(value) for name, field in contract_fields()["memory_region_t"].items()}
    wanted = {"lkey": 3, "rkey": 5, "va": 7, "length": 11, "base": 13, "pd": 17}
    assert found | wanted == found


def test_what_is_drawn_lies_within_bounds_and_fills_all_bins(subtests: pytest.Subtests) -> None:
    for field in (field for field in FIELDS if not field.why):
        with subtests.test(f"{field.record}.{field.name}"):
            drawn = {*field.corners, *(field.draw(Random(seed)) for seed in range(50))}
            assert all(field.first <= value <= field.last for value in drawn)
            seen = RecordsSeen()
            for value in drawn | {*field.ends.values()}:
                seen.see(field.record, (value << field.at).to_bytes(SIZES[field.record]))
            ((_, hit),) = seen.bins()
            assert {*bins_of(field)} <= {*hit}


def test_a_field_that_joins_a_record_is_derived_unasked() -> None:
    bounds = {"receive_t": {"old": {"last": 3}}}
    fields = bounded({"receive_t": [("old", 8), ("new", 4), ("reserved", 4)]}, bounds)["receive_t"]
    assert {name: bool(bins_of(field)) for name, field in fields.items()} == {
        "old": True,
        "new": True,
        "reserved": False,
    }
    assert fields["new"].last == 15


def test_bounds_of_no_field_are_refused() -> None:
    with pytest.raises(ContractError, match="receive_t has no gone"):
        bounded({"receive_t": [("old", 8)]}, {"receive_t": {"gone": {"last": 1}}})
