# SPDX-License-Identifier: BSD-2-Clause
"""Broken rules that somebody has accepted for a time, with the reason: a TOML file of waivers.

docs/waivers.md describes the file. What is waived stays visible and fails
nothing; a waiver that has expired waives nothing any more. A device's manifest
has the same entries, which are about no other device.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from roceproof.common.document import read_toml
from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable
from roceproof.conformance.rules.table import RULES
from roceproof.verbs.limit_table import LIMITS

SUBJECTS, NEEDED = ("rule", "case", "limits"), ("reason", "expires")
SCOPES = ("flow", "device")
"""Keys of an entry: one of the first, both of the second, any of the third."""
WAIVABLE_LIMITS = tuple(row.key for row in LIMITS if row.beyond)
"""Limits beyond which a device is known to be broken; they stand in its manifest."""
_FLOW = re.compile(r"(\S+) > (\S+) QPN (0x[0-9a-fA-F]+|\d+)")


class WaiverError(RoceproofError):
    """The file is wrong; the text names the entry and what it needs."""


@dataclass
class Waiver:
    """One of them, for a rule, a case or what lies beyond limits; `used` counts what it waived."""

    rule: str | None
    case: str | None
    reason: str
    expires: date
    flow: tuple[str, str, int] | None
    device: str | None
    expired: bool
    used: int = 0
    limits: Mapping[str, Any] | None = None

    @property
    def words(self) -> str:
        return f"waived until {self.expires}: {self.reason}"

    @property
    def subject(self) -> str:
        if self.limits is not None:
            return ", ".join(f"{name} = {value}" for name, value in self.limits.items())
        return str(self.rule or self.case)

    def status(self) -> str | None:
        """What is to be told of a waiver that waived nothing."""
        where = f" of {self.device}" if self.device else ""
        if self.expired:
            return f"the waiver for {self.subject}{where} expired on {self.expires}: {self.reason}"
        if not self.used:
            return f"the waiver for {self.subject}{where} waived nothing: {self.reason}"
        return None

    def is_for_case(self, name: str) -> bool:
        """Whether it names a case, or all variants of one."""
        return self.case is not None and self.case in (name, name.partition("[")[0])

    def document(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "case": self.case,
            "limits": None if self.limits is None else self.subject,
            "flow": None if self.flow is None else "{} > {} QPN {:#x}".format(*self.flow),
            "device": self.device,
            "reason": self.reason,
            "expires": str(self.expires),
            "expired": self.expired,
            "waived": self.used,
        }


def load_waivers(path: Path, *, today: date | None = None) -> list[Waiver]:
    name = printable(path)
    table = read_toml(path, mend="see docs/waivers.md", error=WaiverError)
    entries = table.pop("waiver", [])
    if table or not isinstance(entries, list):
        raise WaiverError(f"{name}: only [[waiver]] tables may stand there; see docs/waivers.md")
    return read_waivers(entries, place=f"{name}: waiver", today=today)


def read_waivers(
    entries: Sequence[Any], *, place: str, today: date | None = None, scopes: Sequence[str] = SCOPES
) -> list[Waiver]:
    """Every waiver of a list, as of today; of the scopes only these may be said."""
    return [
        _waiver(f"{place} {number}", entry, today or date.today(), scopes)
        for number, entry in enumerate(entries, start=1)
    ]


def matching(
    waivers: Collection[Waiver],
    rule: str,
    *,
    flow: tuple[str, str, int] | None = None,
    devices: Collection[str] = (),
) -> Waiver | None:
    """The first waiver in force for a broken rule of a flow, or of a device by any of its names."""
    for each in waivers:
        if each.rule != rule or each.expired:
            continue
        if each.flow is not None and each.flow != flow:
            continue
        if each.device is not None and each.device not in devices:
            continue
        return each
    return None


def _waiver(place: str, entry: Any, today: date, scopes: Sequence[str]) -> Waiver:
    if not isinstance(entry, dict):
        raise WaiverError(f"{place} is no table; see docs/waivers.md")
    lacking = [key for key in NEEDED if key not in entry]
    unknown = sorted(entry.keys() - {*SUBJECTS, *NEEDED, *scopes})
    if lacking or unknown:
        what = f"lacks {lacking[0]}" if lacking else f"has an unknown key, {unknown[0]}"
        raise WaiverError(f"{place} {what}; see docs/waivers.md")
    if sum(key in entry for key in SUBJECTS) != 1:
        what = "one rule or one case" if scopes else "one rule, one case or limits"
        raise WaiverError(f"{place}: name {what}; see docs/waivers.md")
    if "limits" in entry:
        _check_limits(place, entry["limits"], is_manifest=not scopes)
    if "rule" in entry and str(entry["rule"]) not in RULES:
        raise WaiverError(f"{place}: {entry['rule']} is no rule; list them: roceproof rules")
    if type(entry["expires"]) is not date:
        raise WaiverError(f"{place}: expires is a date without quotes, such as 2027-01-31")
    texts = [entry[key] for key in ("reason", "case", *scopes) if key in entry]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise WaiverError(f"{place}: reason, case, flow and device are texts that say something")
    return Waiver(
        rule=entry.get("rule"),
        case=entry.get("case"),
        reason=printable(entry["reason"]),
        expires=entry["expires"],
        flow=_flow(place, entry["flow"]) if "flow" in entry else None,
        device=entry.get("device"),
        expired=today > entry["expires"],
        limits=entry.get("limits"),
    )


def _check_limits(place: str, limits: Any, *, is_manifest: bool) -> None:
    if not is_manifest:
        raise WaiverError(f"{place}: limits are waived in the manifest of their device")
    if not isinstance(limits, dict) or not limits or limits.keys() - set(WAIVABLE_LIMITS):
        known = ", ".join(WAIVABLE_LIMITS)
        raise WaiverError(f"{place}: limits is a table with some of {known}")


def _flow(place: str, text: str) -> tuple[str, str, int]:
    found = _FLOW.fullmatch(text)
    if found is None:
        raise WaiverError(f"{place}: flow is written like 10.0.0.1 > 10.0.0.2 QPN 0x11")
    return found[1], found[2], int(found[3], 0)
