# SPDX-License-Identifier: BSD-2-Clause
"""roceproof: co-simulation and protocol conformance for RoCEv2 transmitters."""

__version__ = "0.2.0"
