# SPDX-License-Identifier: BSD-2-Clause
"""What a case may ask of its target, and where a target is known to deviate."""
