# SPDX-License-Identifier: BSD-2-Clause
"""The Wireshark plugin and profile, and what puts them into a user's Wireshark and takes them out."""
