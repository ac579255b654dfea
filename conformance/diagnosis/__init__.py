# SPDX-License-Identifier: BSD-2-Clause
"""Names the misimplementation behind wrong ICRCs and PSNs of a capture.

Works from the frames alone, so that the same diagnosis reads a simulation, a
mirror port or somebody else's file. It never guesses: it reports all that the
traffic leaves possible, or that nothing fits.
"""
