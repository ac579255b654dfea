# SPDX-License-Identifier: BSD-2-Clause
"""The gate: one verdict on a device, from its build to a real receiver."""
