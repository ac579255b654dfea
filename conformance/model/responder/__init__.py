# SPDX-License-Identifier: BSD-2-Clause
"""Responders of RC, UC and UD, and their policy."""
