# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with a device whose PSNs are wrong."""
