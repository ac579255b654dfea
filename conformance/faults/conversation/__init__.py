# SPDX-License-Identifier: BSD-2-Clause
"""Healthy conversations: stations, queue pairs, and a network."""
