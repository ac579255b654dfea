# SPDX-License-Identifier: BSD-2-Clause
"""The order in which a newcomer reads the pages: all that the site has."""

from pathlib import Path

_REPORTS = Path(__file__).parents[2] / "docs/upstream/reports"

FRONT = "README"
CHAPTERS = {
    "Begin": [
        "docs/install",
        "docs/tutorial",
        "docs/glossary",
        "docs/platforms",
        "docs/completion",
    ],
    "Judge captures": [
        "docs/check",
        "docs/explain",
        "docs/review",
        "docs/waivers",
        "docs/captures",
        "docs/wireshark",
        "docs/observer",
    ],
    "Judge a device": [
        "docs/gate",
        "docs/ci",
        "docs/bring-your-own",
        "docs/bring-your-own-responder",
        "docs/dut-contract",
        "docs/dut-contract-v2",
        "docs/neighbours",
        "docs/nic",
        "examples/byte_endpoint_buggy/README",
        "examples/uc_writer_buggy/README",
        "rtl/helpers/README",
    ],
    "The suite": [
        "docs/suite",
        "docs/fuzz",
        "docs/scenarios",
        "docs/crafting",
        "docs/api",
        "docs/coverage",
        "docs/law",
        "docs/habits",
        "docs/interop",
    ],
    "Soft-RoCE": [
        "docs/findings",
        "docs/kernels",
        "docs/stock-captures",
        "docs/upstream/README",
        *(f"docs/upstream/reports/{report.stem}" for report in sorted(_REPORTS.glob("*.md"))),
        "docs/upstream/private/README",
        "docs/upstream/other/README",
        "tests/captures/rxe/README",
    ],
    "The project": [
        "docs/architecture",
        "docs/extending",
        "docs/bridge",
        "docs/agent",
        "docs/dependencies",
        "docs/line-rate",
        "docs/synthesis",
        "rtl/README",
        "rtl/mutants/README",
        "CONTRIBUTING",
        "CHANGELOG",
    ],
}
