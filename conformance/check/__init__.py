# SPDX-License-Identifier: BSD-2-Clause
"""What `check` does: the C oracle, built and run, and its findings as reports."""
