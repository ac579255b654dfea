# SPDX-License-Identifier: BSD-2-Clause
"""The reference model: what a conforming device does, readable next to the specification.

Pure state machines over transport packets; no I/O, no clock of their own.
"""
