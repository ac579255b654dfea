# SPDX-License-Identifier: BSD-2-Clause
"""Traffic in bulk: storms, fuzzing, noise, crossed requests and answers."""
