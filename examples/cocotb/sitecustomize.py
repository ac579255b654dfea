# SPDX-License-Identifier: BSD-2-Clause
"""Lets the simulator's Python see a clone of roceproof as ours does.

cocotb hands it the folders of packages by PYTHONPATH, and not what lies in them as a link.
"""

import site
import sys

for place in [path for path in sys.path if path.endswith("site-packages")]:
    site.addsitedir(place)
