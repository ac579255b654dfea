# SPDX-License-Identifier: BSD-2-Clause
"""Functional coverage: what a run's stimulus has reached, counted from contract streams."""
