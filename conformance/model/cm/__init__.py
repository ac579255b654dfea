# SPDX-License-Identifier: BSD-2-Clause
"""Connection management: messages, and both sides of an exchange."""
