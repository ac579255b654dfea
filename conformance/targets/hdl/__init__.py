# SPDX-License-Identifier: BSD-2-Clause
"""Simulated devices behind a manifest."""
