# SPDX-License-Identifier: BSD-2-Clause
"""What can come of a case, as results.json and gate.json name it."""

from __future__ import annotations

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
NOT_REACHED, WAIVED = "not_reached", "waived"

FAILING = (FAILED, NOT_REACHED)
"""The device's doing."""
BAD = (*FAILING, "error")
"""What fails a run; an error may be the bench's."""
