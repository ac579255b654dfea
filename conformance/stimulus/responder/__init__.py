# SPDX-License-Identifier: BSD-2-Clause
"""Plays plans on a device as responder, and judges what it answers."""
