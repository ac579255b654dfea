# SPDX-License-Identifier: BSD-2-Clause
"""Draws plans from a seed."""
