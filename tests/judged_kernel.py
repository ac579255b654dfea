# SPDX-License-Identifier: BSD-2-Clause
"""Skips what holds only for kernels whose Soft-RoCE has been judged: deviations.toml names them."""

from __future__ import annotations

import pytest

from roceproof.conformance.suite.deviations import load_deviations
from roceproof.rxe_env import kernel


def needs_judged_kernel(release: str | None = None) -> None:
    """Skip, with the reason, when no deviation of the guest's kernel has been declared."""
    release = release or kernel.fetch().release
    judged = sorted({entry.kernels for entry in load_deviations() if entry.target == "rxe"})
    if not any(f"{release}.".startswith(f"{version}.") for version in judged):
        pytest.skip(f"recorded with Soft-RoCE of Linux {', '.join(judged)}; this is {release}")
