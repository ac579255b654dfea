# SPDX-License-Identifier: BSD-2-Clause
"""The suite held to itself: the model in every case under a manifest and habits of its own."""
