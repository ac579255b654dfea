# SPDX-License-Identifier: BSD-2-Clause
"""The virtual machine: its root, QEMU, machines saved and restored, a peer that stays."""
