# SPDX-License-Identifier: BSD-2-Clause
"""Both observers refuse the same files of facts, in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from roce_check import RoceCheck

from roceproof.conformance.observer.facts import Facts, FactsError

ENDS = {"address": "10.0.0.1", "remote_address": "10.0.0.2", "qpn": 17, "remote_qpn": 34}
ROW = {"service": "RC", **ENDS}


def facts(**changed: Any) -> dict[str, Any]:
    return {"schema": 1, "qps": [ROW | changed]}


BAD = [
    {"schema": 1},
    {"schema": 1, "qps": {}},
    {"schema": 1, "qps": 4},
    {"schema": 1, "qps": [17]},
    {"schema": 1, "qps": [[]]},
    {"schema": "1", "qps": []},
    {"schema": 1, "qps": [], "mtu": 0},
    {"schema": 1, "qps": [], "mtu": -1500},
    {"schema": 1, "qps": [], "mtu": 1500.5},
    {"schema": 1, "qps": [], "mtu": True},
    facts(qpn=-1),
    facts(qpn=1 << 24),
    facts(qpn="17"),
    facts(remote_qpn=1.5),
    facts(remote_qpn=True),
    facts(remote_qpn=10**30),
    facts(start_psn=-1),
    facts(start_psn=1 << 24),
    facts(start_psn=False),
    facts(path_mtu=1000),
    facts(path_mtu=0),
    facts(path_mtu=1024.0),
    facts(credits=0),
    facts(credits="no"),
    facts(service="rc"),
    facts(service=["RC"]),
    facts(address="10.0.0"),
    facts(address=167772161),
    facts(ttl=256),
    facts(dscp=64),
    facts(min_rnr_timer=32),
]
TEXTS = ["", "[" * 100_000, '{"schema": 1, "qps": NaN}', "\x00", '{"schema": 1'] + [
    json.dumps(document) for document in BAD
]


@pytest.fixture(scope="module")
def check(build: Path, tmp_path_factory: pytest.TempPathFactory) -> RoceCheck:
    return RoceCheck(build / "roce-check", tmp_path_factory.mktemp("facts"))


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:60] or "empty")
def test_both_refuse_what_are_no_facts(check: RoceCheck, text: str) -> None:
    spoken = check.frames([], *check.qps(text))
    assert spoken.code == 2 and spoken.errors.count("\n") == 1
    with pytest.raises(FactsError, match=r"\A.*\Z"):
        Facts.load(check.folder / "qps.json")


def test_both_take_what_is_right(check: RoceCheck) -> None:
    for document in (facts(), facts(path_mtu=1024, credits=True, qpn=0), {"schema": 1, "qps": []}):
        assert check.frames([], facts=document).code == 0
        Facts.load(check.folder / "qps.json")


def test_no_end_of_facts_is_no_reason_to_read_on() -> None:
    with pytest.raises(FactsError):
        Facts.load(Path("/dev/zero"))
