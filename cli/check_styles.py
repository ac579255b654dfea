# SPDX-License-Identifier: BSD-2-Clause
"""The colour of each severity, wherever findings or rules are printed."""

from __future__ import annotations

from roceproof.conformance.rules.table import Severity

STYLES = {Severity.MUST: "red", Severity.SHOULD: "yellow", Severity.INFO: "cyan"}
