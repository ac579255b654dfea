# SPDX-License-Identifier: BSD-2-Clause
"""Plays plans on a device as requester, and judges what it sends."""
