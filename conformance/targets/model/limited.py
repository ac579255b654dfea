# SPDX-License-Identifier: BSD-2-Clause
"""The reference model under a device's manifest: it claims no more, and holds the suite to it.

Whatever a case asks for beyond the limits is an error of the bench, so that a suite which passes
here asks nothing of that device that it cannot do.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from roceproof.conformance.model.components import REQUESTERS, Components
from roceproof.conformance.model.device import Device
from roceproof.conformance.model.egress import Egress
from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.notification_point import NotificationPoint
from roceproof.conformance.model.requester.base import Requester
from roceproof.conformance.model.requester.policy import Retransmission
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.requester.uc import UcRequester
from roceproof.conformance.model.requester.ud import UdRequester
from roceproof.conformance.model.segmentation import refusal
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.drawn_address import drawn_address
from roceproof.conformance.targets.hdl.responder import no_more_receives
from roceproof.conformance.targets.hdl.static_memory import static_region
from roceproof.conformance.targets.interface import (
    Beyond,
    CasePlace,
    Claims,
    Patience,
    Target,
    TargetError,
    one_domain,
)
from roceproof.conformance.targets.manifest_claims import claims_of
from roceproof.conformance.targets.model.device import PATIENCE, ModelFactory, ModelTarget, wire_ns
from roceproof.conformance.wire.psn import packet_count
from roceproof.dpi.manifest.dut import Manifest
from roceproof.dpi.manifest.responder import StaticRegion
from roceproof.verbs.limit_table import ANY, CONSTANT, COUNTED, ONCE
from roceproof.verbs.limits import DOMAIN
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.service import PathMtu, Service
from roceproof.verbs.work import Outcome, Region, Work


class _NoNotifications(NotificationPoint):
    """Nobody hears of marks from a device that does not claim to tell."""

    def marked(self, now_ns: int) -> None:
        """Nothing comes of it."""


class _ConstantIdentification(Egress):
    """Its packets are never fragmented, so nobody needs to tell them apart."""

    def identification(self) -> int:
        return self.identity


class _AnyIdentification(Egress):
    """It counts in steps of its own, from anywhere."""

    def identification(self) -> int:
        self.identity = (self.identity * 25173 + 13849) % (1 << 16)
        return self.identity


EGRESS = {COUNTED: Egress, CONSTANT: _ConstantIdentification, ANY: _AnyIdentification}
"""By what the manifest says of the identification."""


class _Unflushed(Requester):
    """What is not sent is forgotten where the queue pair fails."""

    def complete(self, work: Work, status: str) -> None:
        if status != "wr_flush_err":
            super().complete(work, status)


class _UnflushedRc(_Unflushed, RcRequester):
    """On RC."""


class _UnflushedUc(_Unflushed, UcRequester):
    """On UC."""


class _UnflushedUd(_Unflushed, UdRequester):
    """On UD."""


REQUESTERS_THAT_FLUSH: Mapping[bool, Mapping[Service, type[Requester]]] = {
    True: REQUESTERS,
    False: {Service.RC: _UnflushedRc, Service.UC: _UnflushedUc, Service.UD: _UnflushedUd},
}
"""By whether the device flushes."""


class _BuiltInMemory(Memory):
    """Whose keys never become invalid."""

    def invalidate(self, rkey: int) -> None:
        raise Beyond("its memory keys are built in, none becomes invalid")


class LimitedModelTarget(ModelTarget):
    """A model device that is asked for no more than its claims."""

    def __init__(self, device: Device, claims: Claims, manifest: Manifest) -> None:
        super().__init__(device)
        self._claims = claims
        self._manifest = manifest
        self._usual = _patience_of(manifest)
        self.patience = self._usual
        self._open: set[int] = set()
        self._under_way: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._first: dict[int, dict[str, int]] = defaultdict(dict)
        responder = manifest.responder
        self._free = list(responder.static_regions) if responder else []
        for place in self._free:
            self._give(place, place.length)

    def open(self, spec: QpSpec) -> Qp:
        self._require_spec(spec)
        qp = super().open(spec)
        self._open.add(qp.qpn)
        if len(self._open) > self._claims.qps:
            raise _beyond(f"{len(self._open)} queue pairs")
        return qp

    def power_on(self) -> None:
        super().power_on()
        self._open.clear()
        self._under_way.clear()
        self._first.clear()
        responder = self._manifest.responder
        self._free = list(responder.static_regions) if responder else []

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        """It forgets what was under way."""
        self._require_spec(spec)
        self._under_way[qp.qpn].clear()
        self._first[qp.qpn].clear()
        return super().reopen(qp, spec)

    def disturb(self, **percent: int) -> None:
        """A long packet takes long to leave."""
        super().disturb(**percent)
        longest = wire_ns(bytes(min(self._claims.path_mtus)))
        self.patience = self._usual.while_stalled(percent.get("tx_stall", 0), frame_ns=longest)

    def register(
        self, size: int, *, access: frozenset[str] = FULL_ACCESS, domain: int = 0
    ) -> Region:
        """Of as many regions as it holds, or one of those that are built in."""
        self._require_room()
        if domain and self._has_one_domain:
            raise one_domain()
        responder = self._manifest.responder
        if responder is None or not responder.static_regions:
            return super().register(size, access=access, domain=domain)
        place = static_region(self._free, responder, size, access)
        self._free.remove(place)
        region = self._give(place, size)
        region.built_in = responder.static_keys
        return region

    def _give(self, place: StaticRegion, size: int) -> Region:
        return self.device.memory.register(
            size, addr=place.va, rkey=place.rkey, access=place.access, extent=place.length
        )

    @property
    def _has_one_domain(self) -> bool:
        responder = self._manifest.responder
        is_built_in = responder is not None and bool(responder.static_regions)
        return is_built_in or DOMAIN in self._claims.limits.fixed

    def register_at(self, addr: int, size: int, *, access: frozenset[str] = FULL_ACCESS) -> Region:
        self._require_room()
        return super().register_at(addr, size, access=access)

    def register_elsewhere(self, size: int) -> Region:
        """All memory is of one domain where keys are built in, or where that is fixed."""
        self._require_room()
        if self._has_one_domain:
            raise one_domain()
        return super().register_elsewhere(size)

    def _require_room(self) -> None:
        responder = self._manifest.responder
        if responder is None or responder.static_regions:
            return
        if len(self.device.memory) >= responder.regions:
            raise Beyond("it holds no more memory regions: [responder] regions says so")

    def post_receive(
        self,
        qp: Qp,
        *,
        wr_id: int,
        region: Region,
        offset: int = 0,
        length: int,
        may_wait: bool = False,
        key_mask: int = 0,
    ) -> None:
        """As many as it holds on one queue."""
        held = len(self.device.queue_pairs[qp.qpn].receives)
        if held >= self._claims.receives and not may_wait:
            raise no_more_receives()
        super().post_receive(
            qp, wr_id=wr_id, region=region, offset=offset, length=length, key_mask=key_mask
        )

    def listen(self, service_id: int, spec: QpSpec) -> None:
        cm = self._manifest.cm
        if cm is None or cm.service_id != service_id:
            raise Beyond(f"it does not listen to service {service_id:#x}")
        self.device.cm.path_mtus = [PathMtu.from_size(mtu) for mtu in self._claims.path_mtus]
        super().listen(service_id, spec)

    def call(self, service_id: int, spec: QpSpec) -> Qp:
        cm = self._manifest.cm
        if cm is None or not cm.calls:
            raise Beyond("it makes connections only when it is asked")
        return super().call(service_id, spec)

    def post(self, qp: Qp, work: Work) -> None:
        limits = self._claims.limits
        is_refused = refusal(qp.spec, work) is not None
        packets = packet_count(work.size, qp.spec.path_mtu)
        if is_refused or (qp.spec.service is Service.UD and packets > 1):
            packets = 0
        state = self.device.queue_pairs[qp.qpn].requester.state
        is_kept = state is not State.RESET and (limits.flushes or state is not State.ERR)
        if is_kept:
            self._under_way[qp.qpn].append((work.wr_id, packets))
        counted = self._under_way if limits.outstanding_shared else [qp.qpn]
        waiting = [each for qpn in counted for each in self._under_way[qpn]]
        reason = (
            limits.against_operation(None if is_refused else qp.spec.service, work.op)
            or limits.against_work(work.op, work.size)
            or limits.against_depth(len(waiting), sum(packets for _, packets in waiting))
        )
        first = self._first[qp.qpn]
        first |= {name: getattr(work, name) for name in ONCE} | first
        for name, value in limits.chosen(first).items():
            if getattr(work, name) != value:
                reason = f"{name} is {getattr(work, name)} and not {value}"
        if reason:
            raise _beyond(reason)
        super().post(qp, work)

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        """What has ended is no longer under way."""
        found = super().completions(qp, count=count, timeout_ns=timeout_ns)
        ended = {outcome.wr_id for outcome in found}
        if not self._claims.limits.flushes and any(o.status != "success" for o in found):
            self._under_way[qp.qpn].clear()
        self._under_way[qp.qpn] = [w for w in self._under_way[qp.qpn] if w[0] not in ended]
        return found

    def _require_spec(self, spec: QpSpec) -> None:
        if Capability[spec.service.name] not in self._claims.capabilities:
            raise _beyond(f"a queue pair of {spec.service.name}")
        for name, value in self._claims.limits.fixed_of_qp.items():
            if getattr(spec, name) != value:
                raise _beyond(f"{name} is {getattr(spec, name)} and not {value}")
        if spec.path_mtu not in self._claims.path_mtus:
            raise _beyond(f"path MTU {spec.path_mtu}")


class LimitedModelFactory(ModelFactory):
    """Fresh ones, all alike; `components` have the habits that a manifest does not say."""

    def __init__(self, manifest: Manifest, components: Components | None = None) -> None:
        self._manifest = manifest
        given = claims_of(manifest)
        tells = Capability.MARKS in given.capabilities
        usual = components or Components()
        policy = usual.requester_policy
        if not manifest.capabilities.retransmission:
            policy = replace(policy, retransmission=Retransmission.NONE)
        has_built_in = manifest.responder is not None and manifest.responder.static_regions
        super().__init__(
            components=replace(
                usual,
                memory=_BuiltInMemory if has_built_in else usual.memory,
                egress=EGRESS[given.limits.identification],
                requesters=REQUESTERS_THAT_FLUSH[given.limits.flushes],
                notification_point=NotificationPoint if tells else _NoNotifications,
                executes=given.executes,
                requester_policy=policy,
                resolves_addresses=manifest.environment.resolves_addresses,
            )
        )
        self.claims = replace(
            given,
            target="model",
            device=f"the reference model as {manifest.name}",
            capabilities=given.capabilities & self.claims.capabilities,
            data_width=None,
        )

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        device = Device(place.host or drawn_address(place.seed), self._components)
        yield LimitedModelTarget(device, self.claims, self._manifest)


def _patience_of(manifest: Manifest) -> Patience:
    def ns(cycles: int | None, usual: int) -> int:
        return usual if cycles is None else cycles * manifest.clock_ps // 1000

    limits = manifest.limits
    return Patience(
        ns(limits.answer_cycles, PATIENCE.answer_ns), ns(limits.quiet_cycles, PATIENCE.quiet_ns)
    )


def _beyond(what: str) -> TargetError:
    return TargetError(f"the case goes beyond the limits of the manifest: {what}")
