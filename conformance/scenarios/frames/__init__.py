# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios that devices play with frames, and leave captures of."""
