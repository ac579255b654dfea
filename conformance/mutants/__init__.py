# SPDX-License-Identifier: BSD-2-Clause
"""Proof that checks can fail: faults of the hardware and faults on the wire, and who finds them."""
