# SPDX-License-Identifier: BSD-2-Clause
"""The colour of each severity, wherever findings or rules are printed."""

from roceproof.conformance.rules.table import Severity

WAIVED = "waived"
"""What stands in the place of the severity."""

STYLES = {Severity.MUST: "red", Severity.SHOULD: "yellow", Severity.INFO: "cyan"}
