# SPDX-License-Identifier: BSD-2-Clause
"""The cases of the suite, one family of rules per file; `roceproof test` collects them."""
