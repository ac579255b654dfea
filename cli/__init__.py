# SPDX-License-Identifier: BSD-2-Clause
"""The console command: one file for each of its commands."""
