# SPDX-License-Identifier: BSD-2-Clause
"""The mutation matrix: every mutant against the cases that must find it."""
