# SPDX-License-Identifier: BSD-2-Clause
"""What cases are written with, and the pytest plug-in that runs them."""
