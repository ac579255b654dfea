# SPDX-License-Identifier: BSD-2-Clause
"""The rules of `docs/observer.md`, one module per group of rules.

`observed` reads a packet where it lies; `*_rules` judge one packet by itself;
`flow` and the modules that it holds judge the packets of one QP in a row.
`roceproof.conformance.observer.checker` puts them together.
"""
