# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios of hosts whose costs are declared: what posts, completions and wake-ups add up to."""
