# SPDX-License-Identifier: BSD-2-Clause
"""The DUT manifest, dut.toml: its parts, its schema, and what describes a device's files."""
