# SPDX-License-Identifier: BSD-2-Clause
"""Wire mutants and mutants of the model, one module per family of rules."""
