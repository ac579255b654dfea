# SPDX-License-Identifier: BSD-2-Clause
"""Makes a failing plan small, and names the rules that it accuses."""
