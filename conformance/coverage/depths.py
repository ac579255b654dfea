# SPDX-License-Identifier: BSD-2-Clause
"""How much of one queue pair a device ever had at once, beside what it claims to hold.

What stands in front of a core, such as a tracker of a few places, keeps every deeper queue behind
it from filling: a fault that takes a full queue then shows nowhere, and all bins look right.
"""

from roceproof.conformance.coverage.document import Coverage

MOST, HELD = "depth.most_work", "depth.most_work_held"
"""By number: lives in which so much was the most, and in which the device then held more back.

These are figures and no bins to fill, so that the table does not have them."""
_DIGITS = 8


def told_depth(coverage: Coverage) -> str | None:
    """One sentence, None where no clock shows what the device takes."""
    found = _numbers(coverage, MOST)
    if not found or not coverage.scope.widths:
        return None
    most, limit = max(found), coverage.scope.outstanding
    messages = "message" if most == 1 else "messages"
    were = f"{most} {messages} of one queue pair {'was' if most == 1 else 'were'} outstanding"
    behind = "no deeper queue of the core was ever full"
    if limit is not None and most >= limit:
        lets = f"outstanding_messages = {limit} lets no more be tried"
        were += ", with what failed queue pairs flush" if most > limit else ""
        return f"at most {were}: {lets}; {behind}"
    if most not in _numbers(coverage, HELD):
        return f"at most {were}: no more were offered"
    claimed = "any number" if limit is None else limit
    return (
        f"never more than {were}, though more were offered and the manifest lets {claimed}: "
        f"if that is the depth of a tracker in the wrapper, {behind}"
    )


def _numbers(coverage: Coverage, point: str) -> set[int]:
    names = coverage.counts.hits(point)
    return {int(n) for n in names if n.isascii() and n.isdigit() and len(n) <= _DIGITS}
