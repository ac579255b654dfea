# SPDX-License-Identifier: BSD-2-Clause
"""The Python judge: codec, ICRC, reference transmitter and passive rules.

Shares no code with the SystemVerilog endpoint or with the C oracle, so that
agreement between the three means something.
"""
