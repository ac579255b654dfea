# SPDX-License-Identifier: BSD-2-Clause
"""PSN registers and what can go wrong with them."""
