# SPDX-License-Identifier: BSD-2-Clause
"""A simulation that runs: its process, its ports, and what it reports."""
