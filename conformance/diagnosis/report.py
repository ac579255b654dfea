# SPDX-License-Identifier: BSD-2-Clause
"""Every diagnosis of a capture: that of the ICRCs first, then that of the PSNs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from roceproof.conformance.capture.record import Record
from roceproof.conformance.diagnosis.icrc.diagnosis import explain_icrcs
from roceproof.conformance.diagnosis.observation import observe
from roceproof.conformance.diagnosis.psn.diagnosis import explain_psns
from roceproof.conformance.diagnosis.result import Diagnosis

Facts = Mapping[str, Any]
"""What `--qps` gives: the document that docs/observer.md describes in section 6."""

_REPLAYS = "P19"
"""What a healthy requester does, too, if its peer's acknowledgements are dropped."""


def explain(records: Iterable[Record], facts: Facts | None = None) -> list[Diagnosis]:
    """Explain what is wrong in a capture; an empty list if nothing is."""
    observations = list(observe(records))
    icrcs = explain_icrcs(observations, facts)
    psns = explain_psns(observations, facts)
    if icrcs:
        psns = [found for found in psns if found.id != _REPLAYS]
    return icrcs + psns
