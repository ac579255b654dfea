# SPDX-License-Identifier: BSD-2-Clause
"""The command itself, which finds each sub-command by its name, and what sub-commands share."""
