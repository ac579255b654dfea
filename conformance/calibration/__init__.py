# SPDX-License-Identifier: BSD-2-Clause
"""How often `explain` is right: devices drawn from a seed, their truth held against the verdict."""
