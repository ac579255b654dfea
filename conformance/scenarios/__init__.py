# SPDX-License-Identifier: BSD-2-Clause
"""The experiments of the field as commands: networks in virtual time, laws, tables and plots."""
