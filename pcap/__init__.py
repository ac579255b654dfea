# SPDX-License-Identifier: BSD-2-Clause
"""What Python holds of the capture room; the library itself is C."""
