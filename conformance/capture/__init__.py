# SPDX-License-Identifier: BSD-2-Clause
"""Reads and writes capture files: pcap and pcapng."""
