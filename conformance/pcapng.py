# SPDX-License-Identifier: BSD-2-Clause
"""The former name of `capture`."""

from roceproof.conformance.capture import CaptureError, Flow, Record, read

__all__ = ["CaptureError", "Flow", "Record", "read"]
