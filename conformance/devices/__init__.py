# SPDX-License-Identifier: BSD-2-Clause
"""One matrix of rules and devices: kernels, NICs and designs, a column each, from runs' results."""
