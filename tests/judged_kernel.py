# SPDX-License-Identifier: BSD-2-Clause
"""Skips what holds only for kernels whose Soft-RoCE has been judged: deviations.toml names them."""

from __future__ import annotations

import pytest

from roceproof.conformance.suite.limits.deviations import judged_kernels
from roceproof.rxe_env.kernel import distribution, versions


def needs_judged_kernel(release: str | None = None, *, judged: list[str] | None = None) -> None:
    """Skip, with the reason, when deviations of the guest's kernel have not been declared."""
    release = release or distribution.fetch().release
    judged = judged or judged_kernels()
    if not any(versions.is_of(release, version) for version in judged):
        pytest.skip(f"judged is Soft-RoCE of Linux {', '.join(judged)}; this is {release}")
