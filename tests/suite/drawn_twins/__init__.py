# SPDX-License-Identifier: BSD-2-Clause
"""The suite held to itself in hardware: healthy devices with limits and habits drawn at random."""
