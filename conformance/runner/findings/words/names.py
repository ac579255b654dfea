# SPDX-License-Identifier: BSD-2-Clause
"""The name that `explain` has for what a finding shows."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

from roceproof.conformance.rules.signatures import parts, title
from roceproof.conformance.runner.findings.root import Root

Document = dict[str, Any]
_EXPLAINABLE = ("ICRC-", "PSN-", "OPC-", "IP-05", "IP-06", "IP-07", "BTH-08")
"""Rules for which `explain` has names."""
_MOST_AGREE = 0.8


def named(root: Root, cases: Mapping[str, Document]) -> str | None:
    """What `explain` makes of most of its cases that it has looked at.

    Of a few frames it leaves open which of several it is; what most of the cases leave open counts.
    """
    if not any(rule.startswith(_EXPLAINABLE) for rule in root.accuses):
        return None
    looked = [names for case in sorted(root.cases) if (names := cases[case].get("explained"))]
    groups = [[name.split("=") for name in names] for names in looked]
    told = Counter(one for each in groups for one in dict.fromkeys(chain.from_iterable(each)))
    [(first, most)] = told.most_common(1) or [("", 0)]
    if not looked or most < _MOST_AGREE * len(looked):
        return None
    open_with_it = [group for each in groups for group in each if first in group]
    others = [one for one in open_with_it[0] if all(one in group for group in open_with_it)]
    return signature_told("=".join(dict.fromkeys([first, *others])))


def signature_told(name: str) -> str | None:
    """What `explain` has found, with those that explain the frames as well; of `S25=S27`."""
    first, *others = name.split("=")
    if not parts(first):
        return None
    also = f" (or {', '.join(others)})" if others else ""
    return f"{first}{also}: {title(first)}"
