# SPDX-License-Identifier: BSD-2-Clause
"""Checks of all that a queue pair sent, for cases that ask for more."""
