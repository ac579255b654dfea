# SPDX-License-Identifier: BSD-2-Clause
"""The guest's kernel: where packages of kernels come from, and what of them is kept."""
