# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with how packets are built, before their ICRCs and PSNs are asked about."""
