# SPDX-License-Identifier: BSD-2-Clause
"""The kit for real NICs: what their hosts have, and what several of them do, side by side."""
