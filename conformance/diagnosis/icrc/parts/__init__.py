# SPDX-License-Identifier: BSD-2-Clause
"""What an ICRC engine is made of, and what a packet shows of it."""
