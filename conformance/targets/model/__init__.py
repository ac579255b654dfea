# SPDX-License-Identifier: BSD-2-Clause
"""The reference model as a device."""
