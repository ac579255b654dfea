# SPDX-License-Identifier: BSD-2-Clause
"""Root findings in words, for people and machines."""
