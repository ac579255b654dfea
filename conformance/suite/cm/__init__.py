# SPDX-License-Identifier: BSD-2-Clause
"""The peers of connection management."""
