# SPDX-License-Identifier: BSD-2-Clause
"""What every room may use: errors, places in the source tree, child processes, output."""
