# SPDX-License-Identifier: BSD-2-Clause
"""Reads and writes capture files: pcap and pcapng."""

STDIN = "-"
"""What stands for standard input where a file is named."""
