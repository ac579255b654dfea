# SPDX-License-Identifier: BSD-2-Clause
"""From a manifest to an executable simulation: VHDL, Verilator, the compiler, and what they say."""
