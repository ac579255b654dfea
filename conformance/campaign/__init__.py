# SPDX-License-Identifier: BSD-2-Clause
"""Campaigns of fuzzing: runs that share a folder of entries and findings, for as long as wanted."""
