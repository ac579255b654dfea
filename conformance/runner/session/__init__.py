# SPDX-License-Identifier: BSD-2-Clause
"""The pytest session: options, items, devices, results and its end."""
