# SPDX-License-Identifier: BSD-2-Clause
"""What a device behind a manifest claims, before it is built."""

from collections.abc import Collection, Mapping

from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.dpi.contract.records import Operation
from roceproof.dpi.manifest.dut import XGMII, Manifest
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

_CONTRACT = "the DUT contract has no such thing (docs/dut-contract.md)"
_ALWAYS = frozenset(
    {
        Capability.LOCKSTEP,
        Capability.DISTURBANCE,
        Capability.ALIGNMENT,
        Capability.RESET,
        Capability.PING,
        Capability.DAMAGE,
        Capability.POWER_ON,
        Capability.RESTART,
    }
)
_OF_RESPONDERS = (Capability.RESPONDER, Capability.MEMORY, Capability.TOLD_KEYS)
_SENT = (
    Capability.SEND,
    Capability.SEND_IMM,
    Capability.WRITE,
    Capability.WRITE_IMM,
    Capability.READ,
)
_ABSENT = {
    **dict.fromkeys(_OF_RESPONDERS, "its manifest has no [responder]"),
    Capability.SEND_INV: _CONTRACT,
    Capability.FCS: 'its manifest has no wire = "xgmii"',
    Capability.UD: "its manifest lists no UD under [responder]",
    Capability.RC: "its manifest lists nothing on RC",
    Capability.UC: "its manifest lists nothing on UC",
    **{each: f"its manifest lists no {each.name} under [capabilities]" for each in _SENT},
    Capability.ATOMIC: "its manifest does not list CMP_SWAP and FETCH_ADD under [capabilities]",
    Capability.RETRANSMISSION: "its manifest has no retransmission = true",
    Capability.CM: "its manifest has no [cm]",
    Capability.STATES: "its manifest has no states = true",
    Capability.CNP: 'its manifest has no features = ["cnp"]',
    Capability.CREDITS: 'its manifest has no features = ["credits"]',
    Capability.IPV6: 'its manifest has no features = ["ipv6"]',
    Capability.VLAN: 'its manifest has no features = ["vlan"]',
    Capability.SHARED_RECEIVE: "its manifest has no shared_receives = true",
    Capability.MSN_PRESET: "its manifest has no message_count = true",
    Capability.MARKS: "its manifest has no notifies = true",
    Capability.PFC: 'its manifest has no features = ["pfc"]',
}


def _invalidates(executes: Mapping[Service, Collection[Op]]) -> bool:
    return any(Op.SEND_INV in operations for operations in executes.values())


def _sent(operations: Collection[Operation]) -> set[str]:
    """The capabilities that stand for what it sends; atomics are both or none."""
    atomics = {Operation.CMP_SWAP, Operation.FETCH_ADD}
    names = {operation.name for operation in operations if operation not in atomics}
    return names | ({Capability.ATOMIC.name} if atomics <= {*operations} else set())


def claims_of(manifest: Manifest, data_width: int | None = None) -> Claims:
    """As a device in a simulation at a data width, the first where none is said."""
    claimed = manifest.capabilities
    names = {service.name for service in claimed.services}
    names |= _sent(claimed.operations)
    names |= {feature.upper() for feature in claimed.features}
    if claimed.retransmission:
        names.add(Capability.RETRANSMISSION.name)
    if manifest.wire == XGMII:
        names.add(Capability.FCS.name)
    if claimed.operations:
        names.add(Capability.REQUESTER.name)
    absent = {**_ABSENT, Capability.REQUESTER: "its manifest lists nothing that it sends"}
    usual = _ALWAYS
    if "payload_offset" in manifest.limits.fixed:
        usual -= {Capability.ALIGNMENT}
        absent[Capability.ALIGNMENT] = "its manifest fixes payload_offset"
    if not manifest.limits.flushes:  # nobody can tell what a former life still owes
        usual -= {Capability.RESTART}
        absent[Capability.RESTART] = "its manifest says flushes = false"
    executes, receives, queues = None, Claims.receives, Claims.shared_queues
    if manifest.responder is not None:
        executes, receives = manifest.responder.operations, manifest.responder.receives
        queues = manifest.responder.shared_queues
        names |= {service.name for service, operations in executes.items() if operations}
        names |= {Capability.RESPONDER.name} if any(executes.values()) else set()
        names |= {Capability.MEMORY.name}
        names |= {Capability.STATES.name} if manifest.responder.states else set()
        names |= set() if manifest.responder.static_regions else {Capability.TOLD_KEYS.name}
        absent[Capability.TOLD_KEYS] = "its keys are built in, by the [[region]] of its manifest"
        absent[Capability.RESPONDER] = "its [responder] lists nothing that it executes"
        names |= {Capability.SHARED_RECEIVE.name} if manifest.responder.shares_receives else set()
        names |= {Capability.MSN_PRESET.name} if manifest.responder.starts_anywhere else set()
        names |= {Capability.MARKS.name} if manifest.responder.notifies else set()
        names |= {Capability.CM.name} if manifest.cm else set()
        names |= {Capability.INVALIDATE.name} if _invalidates(executes) else set()
    return Claims(
        target="hdl",
        device=manifest.name,
        capabilities=usual | {Capability[name] for name in names},
        path_mtus=tuple(sorted(mtu.size for mtu in claimed.path_mtus)),
        qps=claimed.qps,
        receives=receives,
        built_in=manifest.responder.static_regions if manifest.responder else (),
        shared_queues=queues,
        data_width=data_width or manifest.data_widths[0],
        resolves_addresses=manifest.environment.resolves_addresses,
        limits=manifest.limits,
        executes=executes,
        absent={each: why for each, why in absent.items() if each.name not in names},
    )
