# SPDX-License-Identifier: BSD-2-Clause
"""Runs cases over a device: the pytest plug-in, its options, its verdicts and reports."""
