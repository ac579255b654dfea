# SPDX-License-Identifier: BSD-2-Clause
"""What is only a warning to others is a failure of a device that is right."""

from __future__ import annotations

import pytest

from roceproof.conformance.runner.outcomes import WARNING


def unwarned(report: pytest.TestReport) -> pytest.TestReport:
    """The report, failed if it has a warning."""
    said = dict(report.user_properties)
    if WARNING in said:
        report.outcome, report.longrepr = "failed", f"{said['broken']}: {said[WARNING]}"
    return report
