# SPDX-License-Identifier: BSD-2-Clause
"""The devices that the tools talk to, and what each of them is not made for."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from roceproof.conformance.interop.scenarios import Scenario
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import DeviceFactory
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op


@dataclass(frozen=True)
class Peer:
    name: str
    factory: DeviceFactory
    sends: Mapping[Service, Collection[Op]]
    """What it does as a requester."""

    def lack(self, scenario: Scenario) -> str:
        """Why a scenario cannot be held with it; nothing if it can."""
        service = scenario.service
        missing = [op for op in scenario.sends if op not in self.sends.get(service, ())]
        if missing:
            return f"the device sends no {_named(missing)} on {service.name} by itself"
        claims = self.factory.claims
        if Capability.RESPONDER not in claims.capabilities:
            return "the device executes nothing"
        if scenario.cm_port and Capability.STATES not in claims.capabilities:
            return "the device cannot be told the states of a queue pair"
        too_long = claims.limits.against_length(scenario.size) if scenario.sends else None
        if too_long:
            return too_long
        executed = claims.executed_on(service)
        refused = [op for op in scenario.executes if executed is not None and op not in executed]
        if refused:
            return f"the device executes no {_named(refused)} on {service.name}"
        if scenario.qps > claims.qps:
            return f"the device has {claims.qps} queue pairs, not {scenario.qps}"
        if scenario.path_mtu not in claims.path_mtus:
            return f"the device has no path MTU of {scenario.path_mtu}"
        return ""


def _named(operations: Collection[Op]) -> str:
    return ", ".join(op.name for op in operations)


def model_peer() -> Peer:
    """The reference model, which does everything."""
    return Peer("model", ModelFactory(), {service: frozenset(Op) for service in Service})


def hdl_peer(dut: Path, width: int | None = None) -> Peer:
    """A simulated device behind a manifest."""
    manifest = load_manifest(dut)
    claimed = manifest.capabilities
    operations = frozenset(Op[operation.name] for operation in claimed.operations)
    sends = {service: operations for service in claimed.services}
    return Peer("hdl", HdlFactory(manifest, data_width=width), sends)
