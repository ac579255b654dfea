# SPDX-License-Identifier: BSD-2-Clause
"""The helpers beside these tests can be imported by them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
