# SPDX-License-Identifier: BSD-2-Clause
"""What the suite tests: a device behind one small interface, whatever it is made of."""
