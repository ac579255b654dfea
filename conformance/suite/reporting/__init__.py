# SPDX-License-Identifier: BSD-2-Clause
"""What a case leaves behind: its transcript, and how it fails."""
