# SPDX-License-Identifier: BSD-2-Clause
"""Laws of what verbs count, on any host: posts and completions by lists, signals and opcode."""

from collections.abc import Iterator, Sequence

from roceproof.conformance.scenarios.scenario import Check, Row, exactly

_HEARD = {"SEND": 1, "WRITE_IMM": 1, "WRITE": 0, "READ": 0}


def counted(rows: Sequence[Row], *, where: str = "") -> Iterator[Check]:
    """`list` messages a post, a completion for every `signalled`-th, and at the far end by opcode.

    What completes there is `passive`.
    """
    for opcode in dict.fromkeys(row["opcode"] for row in rows):
        share = _HEARD[opcode]
        odd = sum(
            row["passive"] != share * row["messages"] for row in rows if row["opcode"] == opcode
        )
        name = f"{where}{opcode}: runs without {share} completion each at the far end"
        yield exactly(name, 0, odd)
    odd = sum(row["posts"] * row["list"] != row["messages"] for row in rows)
    yield exactly(f"{where}runs whose posts are not messages / list", 0, odd)
    odd = sum(row["completions"] * row["signalled"] != row["messages"] for row in rows)
    yield exactly(f"{where}runs whose completions are not messages / interval", 0, odd)
