# SPDX-License-Identifier: BSD-2-Clause
"""The Wireshark plugin and profile, and what installs them for a user."""
