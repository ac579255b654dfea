# SPDX-License-Identifier: BSD-2-Clause
"""ICRC engines and what can go wrong in them."""
