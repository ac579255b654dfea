# SPDX-License-Identifier: BSD-2-Clause
"""Captures for people: what two devices did differently, and ladders of who said what."""
