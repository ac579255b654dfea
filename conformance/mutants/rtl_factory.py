# SPDX-License-Identifier: BSD-2-Clause
"""Device factory of the reference endpoint with one RTL fault chosen."""

from __future__ import annotations

from roceproof.conformance.mutants.edits import MutantError
from roceproof.conformance.mutants.rtl import load_mutants, reference_mutants
from roceproof.conformance.targets.hdl_factory import HdlFactory


def rtl_factory(name: str, *, data_width: int | None) -> HdlFactory:
    """The devices of one mutant; all share one build per data width."""
    faults = load_mutants()
    chosen = [mutant for mutant in faults.mutants if mutant.id == name]
    if not chosen:
        raise MutantError(f"{name}: no RTL mutant has this id; they are in rtl/mutants")
    manifest = reference_mutants(faults)
    return HdlFactory(manifest, data_width=data_width, plusargs=(chosen[0].plusarg,))
