# SPDX-License-Identifier: BSD-2-Clause
"""The tables of rules and of signatures, and the finding that names a broken rule."""
