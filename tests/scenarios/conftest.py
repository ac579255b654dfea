# SPDX-License-Identifier: BSD-2-Clause
"""Lets the tests of this directory import their helper modules."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
