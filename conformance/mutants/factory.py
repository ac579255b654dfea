# SPDX-License-Identifier: BSD-2-Clause
"""Makes the device factory of a mutant from its name."""

from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.wire import WireMutantError, wire_mutants
from roceproof.conformance.targets.interface import DeviceFactory


def mutant_factory(name: str, *, target: str, width: int | None) -> DeviceFactory:
    """The devices of a mutant: an RTL fault on `hdl`, a fault of wire or model on `model`.

    The name may be the matrix's, with its kind in front.
    """
    name = name.rpartition(":")[2]
    if target == "hdl":
        from roceproof.conformance.mutants.rtl_factory import rtl_factory

        return rtl_factory(name, data_width=width)
    from roceproof.conformance.targets.model.device import ModelFactory

    mutant = wire_mutants().get(name)
    if mutant is None:
        raise WireMutantError(f"{name}: no wire mutant has this id; see conformance/mutants")
    components = None if mutant.components is None else mutant.components()
    return CorruptingFactory(ModelFactory(components=components), mutant)
