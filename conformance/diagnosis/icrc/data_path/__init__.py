# SPDX-License-Identifier: BSD-2-Clause
"""What goes wrong with the beats in which packets come to an engine."""
