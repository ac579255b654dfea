# SPDX-License-Identifier: BSD-2-Clause
"""What cases are written with: bench, connections, patterns, predictions and sweeps."""
