# SPDX-License-Identifier: BSD-2-Clause
"""Faults of ICRC engines."""
