# SPDX-License-Identifier: BSD-2-Clause
"""Real devices: a wire to them, and the verbs agent beside them."""
