# SPDX-License-Identifier: BSD-2-Clause
"""The tests here borrow the endpoint's peer from tests/hdl."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "hdl")]
