# SPDX-License-Identifier: BSD-2-Clause
"""Where the C wire oracle is: part of a wheel, or built from the sources of a checkout."""

from functools import cache
from pathlib import Path

from roceproof.common.paths import BUILD, IS_CHECKOUT, REPOSITORY
from roceproof.conformance.check.stamp import CHECKSUMS, TOOL, ToolError, is_current

__all__ = ["CHECKSUMS", "TOOL", "ToolError", "build_tool", "find_oracle"]


def find_oracle() -> Path:
    """The path of roce-check, which is current."""
    return build_tool() if IS_CHECKOUT else REPOSITORY / "pcap" / TOOL


@cache
def build_tool(build: Path = BUILD / "pcap") -> Path:
    """Have it built, unless nothing has changed since it was."""
    if not is_current(build):
        from roceproof.conformance.check.make import make_tool

        make_tool(build)
    return build / TOOL
