# SPDX-License-Identifier: BSD-2-Clause
"""What must come: predicted packets, and every way to differ from them."""
