# SPDX-License-Identifier: BSD-2-Clause
"""The demonstrations: simulated hardware and a real Soft-RoCE peer on one link."""
