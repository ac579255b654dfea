# SPDX-License-Identifier: BSD-2-Clause
"""Metrics of a run are what Prometheus reads."""

from __future__ import annotations

from roceproof.conformance.campaign.run import metrics_of


def test_each_number_has_its_family_and_labels_are_escaped() -> None:
    facts = {"device": 'my "core"\\', "programs": 7, "seconds": 1.5, "empty": 3}
    text = metrics_of(facts | {"found": {"a": 2, "b": 1}}, run=4)
    labels = r'{run="4",device="my \"core\"\\"}'
    assert text.splitlines() == [
        "# TYPE roceproof_fuzz_programs_total counter",
        f"roceproof_fuzz_programs_total{labels} 7",
        "# TYPE roceproof_fuzz_seconds_total counter",
        f"roceproof_fuzz_seconds_total{labels} 1.5",
        "# TYPE roceproof_fuzz_failed_programs_total counter",
        f"roceproof_fuzz_failed_programs_total{labels} 3",
        "# TYPE roceproof_fuzz_findings gauge",
        f"roceproof_fuzz_findings{labels} 2",
        "# TYPE roceproof_fuzz_empty_bins gauge",
        f"roceproof_fuzz_empty_bins{labels} 3",
    ]
