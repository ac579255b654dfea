# SPDX-License-Identifier: BSD-2-Clause
"""Root findings: the few things that are wrong with a device."""
