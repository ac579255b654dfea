# SPDX-License-Identifier: BSD-2-Clause
"""The ledger of what was found in the kernel: the table in docs/upstream/README.md, read."""

import re
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from roceproof.common.paths import REPOSITORY

UPSTREAM = REPOSITORY / "docs" / "upstream"
SELFTEST = UPSTREAM / "selftest" / "1-rxe-wire.patch"
DEVIATES, AS_IT_SHOULD_BE, PANICS, NOT_TOLD = "deviates", "as due", "panics", "-"
STATES = ("ready", "report", "sent", "confirmed", "merged", "refused")
_HEADS = ("root cause", "owner", "severity", "state", "mail", "explains", "shown by")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
_BEHIND = re.compile(r"behind (\d+)")


@dataclass(frozen=True, kw_only=True)
class RootCause:
    """One fault of the kernel: whom it is for, what mends it, what it explains, what shows it."""

    name: str
    owner: str
    severity: str
    state: str
    mail: Path
    behind: Path | None
    """The patch that has to be applied before."""
    explains: tuple[str, ...]
    """Deviations of the suite."""
    cases: tuple[str, ...]
    """Those of the reproducer; the suite alone shows it where there are none."""
    told: dict[str, str]
    """By release, what the cases show there."""

    @property
    def patches(self) -> tuple[Path, ...]:
        """What is applied to try it: nothing where there is a report only."""
        if self.mail.suffix != ".patch":
            return ()
        return (self.behind, self.mail) if self.behind else (self.mail,)


def root_causes(readme: Path = UPSTREAM / "README.md") -> list[RootCause]:
    """Read the ledger: the table with these heads, up to its end."""
    lines = iter(readme.read_text(encoding="utf-8").splitlines())
    heads = next(row for row in map(_cells, lines) if tuple(row[: len(_HEADS)]) == _HEADS)
    next(lines)
    rows = takewhile(bool, map(_cells, lines))
    return [_root_cause(row, heads[len(_HEADS) :], readme.parent) for row in rows]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]


def _root_cause(row: list[str], releases: list[str], folder: Path) -> RootCause:
    name, owner, severity, state, mail, explains, cases, *told = row
    link = _LINK.search(mail)
    if not link:
        raise ValueError(f"the ledger's {name} has neither patch nor report")
    path = folder / link[2]
    before = _BEHIND.search(mail)
    return RootCause(
        name=name,
        owner=owner,
        severity=severity,
        state=state,
        mail=path,
        behind=next(path.parent.glob(f"{before[1]}-*.patch")) if before else None,
        explains=tuple(text for text, _ in _LINK.findall(explains)),
        cases=tuple(re.findall(r"`([^`]+)`", cases)),
        told=dict(zip(releases, told, strict=True)),
    )
