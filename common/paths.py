# SPDX-License-Identifier: BSD-2-Clause
"""Where things lie: the sources that come with this package, and what it builds and keeps.

In a checkout, folder X is `roceproof.X`, and what is built goes to `build/` beside them. In an
installed wheel the same folders lie inside the package, and what is built goes to the user's cache.
"""

import os
from pathlib import Path


def cache_dir() -> Path:
    """$ROCEPROOF_CACHE, or roceproof's directory in the XDG cache."""
    own = os.environ.get("ROCEPROOF_CACHE")
    return Path(own) if own else _xdg("XDG_CACHE_HOME", ".cache")


def state_dir() -> Path:
    """Where that lies which outlives a command: $XDG_RUNTIME_DIR or the XDG state."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime) / "roceproof" if runtime else _xdg("XDG_STATE_HOME", ".local/state")


def _xdg(variable: str, fallback: str) -> Path:
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / fallback) / "roceproof"


REPOSITORY = Path(__file__).resolve().parents[1]
"""The folder that holds the rooms: `dpi`, `rtl`, `conformance` and the others."""
IS_CHECKOUT = (REPOSITORY / "pyproject.toml").is_file()
BUILD = (REPOSITORY if IS_CHECKOUT else cache_dir()) / "build"
REFERENCE_DUT = REPOSITORY / "rtl" / "dut.toml"
RESPONDER_DUT = REPOSITORY / "rtl" / "responder.toml"
XGMII_DUT = REPOSITORY / "rtl" / "xgmii.toml"
RECOVERY_DUT = REPOSITORY / "rtl" / "recovery.toml"
IPV6_DUT = REPOSITORY / "rtl" / "ipv6.toml"
VLAN_DUT = REPOSITORY / "rtl" / "vlan.toml"
READS_DUT = REPOSITORY / "rtl" / "reads.toml"
CASES = REPOSITORY / "conformance" / "cases"
