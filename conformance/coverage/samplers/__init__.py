# SPDX-License-Identifier: BSD-2-Clause
"""Each file fills the coverpoints of one group from what moves."""
