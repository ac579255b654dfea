# SPDX-License-Identifier: BSD-2-Clause
"""Judges every case beside its own assertions, and keeps the evidence."""
