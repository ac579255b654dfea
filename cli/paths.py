# SPDX-License-Identifier: BSD-2-Clause
"""Where things lie in the source tree that this package was installed from."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = REPOSITORY / "build"
REFERENCE_DUT = REPOSITORY / "rtl" / "dut.toml"
