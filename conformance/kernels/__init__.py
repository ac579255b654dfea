# SPDX-License-Identifier: BSD-2-Clause
"""What Soft-RoCE of several kernels does, side by side: a matrix of rules and kernels."""
