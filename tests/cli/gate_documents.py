# SPDX-License-Identifier: BSD-2-Clause
"""Documents of gates, made of little."""

from __future__ import annotations

from typing import Any

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.gate.document import Baseline, Known, document_of
from roceproof.conformance.gate.guest import Landed
from roceproof.conformance.gate.soak import Soaked
from roceproof.conformance.runner.connectivity import Check
from roceproof.conformance.runner.outcomes import PASSED
from roceproof.conformance.runner.session.options import Options
from roceproof.dpi import Manifest, load_manifest

DUT = REPOSITORY / "examples" / "uc_writer" / "dut.toml"
REPLAY = "roceproof test -k psn"


def case(name: str, outcome: str, **more: Any) -> dict[str, Any]:
    return {
        "case": name,
        "file": "test_mine.py",
        "outcome": outcome,
        "rules": ["PSN-01"],
        **more,
    }


def session(*cases: dict[str, Any]) -> dict[str, Any]:
    failing = [each["case"] for each in cases if each["outcome"] == "failed"]
    finding = {
        "sentence": "show in every packet: psn is wrong (want 1, got <2>)",
        "troubles": ["field psn"],
        "head": "",
        "explained": None,
        "manifest": [],
        "only": len(failing),
        "support": None,
        "cases": failing,
        "count": len(failing),
        "not_reached": 0,
        "stops": False,
        "streams": ["streams in cycle 7:", "  wr 3 beats: WAITS for the device"],
        "rules": ["PSN-01"],
        "any_rules": ["PSN-01"],
        "representative": {"case": "test_psn", "capture": None, "replay": REPLAY},
    }
    return {"cases": list(cases), "findings": [finding] if failing else []}


def judged(
    told: dict[str, Any] | None,
    *,
    baseline: Baseline | None = None,
    manifest: Manifest | None = None,
    **more: Any,
) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "checks": {64: [Check(name="frame", says="it sends", outcome=PASSED)]},
        "session": told,
        "soaked": Soaked(plans=3, coverage={"wire": {"bins": 9, "filled": 7, "open": 0}}),
        "landed": Landed(words="left out by --no-guest"),
    }
    return document_of(
        manifest or load_manifest(DUT),
        options=Options(target="hdl", dut=DUT),
        known=Known(**usual | more),
        baseline=baseline,
    )


PASSING = session(case("test_psn", "passed"), case("test_rc", "skipped", reason="it has no RC"))
FAILING = session(case("test_psn", "failed", broken=["PSN-01"]), case("test_mtu", "passed"))
