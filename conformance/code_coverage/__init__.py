# SPDX-License-Identifier: BSD-2-Clause
"""Code coverage of the reference endpoint: lines, branches and bits that the suite exercises."""
