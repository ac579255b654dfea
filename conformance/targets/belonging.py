# SPDX-License-Identifier: BSD-2-Clause
"""Whose a frame of the device is."""

from __future__ import annotations

from roceproof.conformance.codec import parse
from roceproof.conformance.targets.interface import Qp


def is_from(qp: Qp, frame: bytes) -> bool:
    """Whether the device has sent the frame on that queue pair."""
    packet = parse(frame)
    return packet is not None and packet.bth.dest_qpn == qp.spec.remote_qpn
