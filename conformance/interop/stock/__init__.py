# SPDX-License-Identifier: BSD-2-Clause
"""Records captures of stock RDMA tools over Soft-RoCE."""
