# SPDX-License-Identifier: BSD-2-Clause
"""Constrained-random stimulus for a device as requester, its judgement and its reduction."""
