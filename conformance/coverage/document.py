# SPDX-License-Identifier: BSD-2-Clause
"""coverage.json: what one or more runs over a device have reached, and what that device claims."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, Self

from roceproof.common.document import read_json
from roceproof.common.errors import RoceproofError
from roceproof.common.shape import Word
from roceproof.common.whole_file import whole_file
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.scope import SCOPE_SHAPE, Scope

SCHEMA = 1
_SHAPE = {
    "schema": frozenset({SCHEMA}),
    "target": Word,
    "device": Word,
    "claims": SCOPE_SHAPE,
    "runs": [{"suite": Word, "seed": int, "expression?": object}],
    "hits": {str: {str: range(1 << 53)}},
}


class CoverageFileError(RoceproofError):
    """A file holds no coverage, or does not fit another; the text says why and what to do."""


@dataclass
class Coverage:
    """Counts with their device. `runs` says what was run, in the order of merging."""

    target: str
    device: str
    scope: Scope
    runs: list[dict[str, Any]] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def merged(self, other: Self) -> Self:
        """Both together; they must be of the same device."""
        scope = self.scope.joined(other.scope)
        if scope is None or (self.target, self.device) != (other.target, other.device):
            raise CoverageFileError(
                f"coverage of {self.target} {self.device} and of {other.target} {other.device} "
                "do not add up: merge runs over one device with the same claims"
            )
        counts = Counts()
        counts.merge(self.counts)
        counts.merge(other.counts)
        runs = [*self.runs, *other.runs]
        return type(self)(self.target, self.device, scope, runs, counts)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "target": self.target,
            "device": self.device,
            "claims": self.scope.to_json(),
            "runs": self.runs,
            "hits": self.counts.to_json(),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        return cls(
            target=document["target"],
            device=document["device"],
            scope=Scope.from_json(document["claims"]),
            runs=list(document["runs"]),
            counts=Counts.from_json(document["hits"]),
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        document = read_json(
            path,
            _SHAPE,
            no="holds no coverage",
            mend="make it with roceproof test --coverage",
            error=CoverageFileError,
        )
        return cls.from_json(document)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as part:
            part.write_text(json.dumps(self.to_json()) + "\n")


def merge_files(paths: Sequence[Path]) -> Coverage:
    return reduce(Coverage.merged, [Coverage.read(path) for path in paths])
