# SPDX-License-Identifier: BSD-2-Clause
"""The verbs agent from outside: built, talked to, its answers held to their shape."""
