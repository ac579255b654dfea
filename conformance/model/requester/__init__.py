# SPDX-License-Identifier: BSD-2-Clause
"""Requesters of RC, UC and UD, and their policy."""
