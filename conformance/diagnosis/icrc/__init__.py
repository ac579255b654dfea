# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with a transmitter whose ICRCs are wrong."""
