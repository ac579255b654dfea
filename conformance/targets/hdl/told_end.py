# SPDX-License-Identifier: BSD-2-Clause
"""Whose doing it is that a simulation has ended, and what that breaks."""

from roceproof.conformance.targets.interface import DeviceDied, TargetError
from roceproof.dpi.session.process import Disturbed, SimulationError


def told_end(error: SimulationError) -> TargetError:
    """The device's, unless the machine or somebody on it has ended it."""
    if isinstance(error, Disturbed):
        return TargetError(str(error))
    rule = "ETH-06" if "xgmii fcs: " in str(error) else "LIVE-01"
    return DeviceDied(f"the simulation ended: {error}", rule=rule)
