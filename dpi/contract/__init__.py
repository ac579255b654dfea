# SPDX-License-Identifier: BSD-2-Clause
"""The records of the DUT contract as Python values, byte for byte."""
