# SPDX-License-Identifier: BSD-2-Clause
"""Which rules a failing case accuses."""
