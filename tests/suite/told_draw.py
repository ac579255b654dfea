# SPDX-License-Identifier: BSD-2-Clause
"""What stands behind the failure of a drawn device: what was drawn, and the command to draw it."""

from __future__ import annotations

import re

import pytest

_OF_THE_RUNNER = re.compile(r"^replay: .*\n?", re.MULTILINE)
"""It knows nothing of what was drawn, so that its command repeats another case."""


def with_draw(report: pytest.TestReport, *drawn: str, replay: str) -> pytest.TestReport:
    """The report of a failure with these lines, and with this command only."""
    text = _OF_THE_RUNNER.sub("", str(report.longrepr)).rstrip("\n")
    report.longrepr = "\n".join([text, *drawn, f"replay: {replay}"])
    return report
