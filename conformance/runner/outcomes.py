# SPDX-License-Identifier: BSD-2-Clause
"""What can come of a case, as results.json and gate.json name it."""

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
NOT_REACHED, WAIVED, DEVIATION = "not_reached", "waived", "deviation"

MARKED = "xfail: "
"""So begins a deviation that is not declared, but marked by whoever has written the case."""
FAILING = (FAILED, NOT_REACHED)
"""The device's doing."""
CASE_BROKE = "case_broke"
"""The property of a case that broke by itself, with its exception: no word on the device."""
HUNG = "hung"
"""The property of a case that has failed and waited in vain."""
ERROR = "error"
"""The bench's doing, or the case's own."""
RUNS_AGAIN = "again"
"""What pytest is told of a case whose worker died: nothing came of it yet."""
WARNING = "warning"
"""The property of a case that has passed, though it breaks a rule that is no must: its words."""
BAD = (*FAILING, ERROR)
"""What is no pass."""
KNOWN = (PASSED, SKIPPED, WAIVED, DEVIATION, *BAD)
"""All; what is none of them says nothing."""
