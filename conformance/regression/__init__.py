# SPDX-License-Identifier: BSD-2-Clause
"""A run of the suite as one pytest session: asked for, reported, resumed."""
