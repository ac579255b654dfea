# SPDX-License-Identifier: BSD-2-Clause
"""Judges an RC requester that retransmits, from the wire alone."""
