# SPDX-License-Identifier: BSD-2-Clause
"""What can come of a case, as results.json and gate.json name it."""

from __future__ import annotations

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
NOT_REACHED, WAIVED = "not_reached", "waived"

FAILING = (FAILED, NOT_REACHED)
"""The device's doing."""
CASE_BROKE = "case_broke"
"""The property of a case that broke by itself, with its exception: no word on the device."""
BAD = (*FAILING, "error")
"""What fails a run; an error may be the bench's."""
