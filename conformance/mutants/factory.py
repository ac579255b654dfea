# SPDX-License-Identifier: BSD-2-Clause
"""A mutant by its name, as a source of devices."""

from __future__ import annotations

from roceproof.conformance.mutants.corrupting_target import SpoiltSource
from roceproof.conformance.mutants.wire import WireMutantError, wire_mutants
from roceproof.conformance.targets.interface import Source


def mutant_source(name: str, *, target: str, width: int | None) -> Source:
    """The devices of a mutant: an RTL fault on `hdl`, a fault of wire or model on `model`.

    The name may be the matrix's, with its kind in front.
    """
    name = name.rpartition(":")[2]
    if target == "hdl":
        from roceproof.conformance.mutants.rtl_factory import rtl_source

        return rtl_source(name, data_width=width)
    from roceproof.conformance.targets.model import ModelSource

    mutant = wire_mutants().get(name)
    if mutant is None:
        raise WireMutantError(f"{name}: no wire mutant has this id; see conformance/mutants")
    parts = None if mutant.parts is None else mutant.parts()
    return SpoiltSource(ModelSource(parts=parts), mutant)
