# SPDX-License-Identifier: BSD-2-Clause
"""A simulated device that claims a responder: memory and receives beside what all devices have."""

from collections import Counter
from dataclasses import replace
from itertools import cycle
from random import Random
from typing import Any

from roceproof.conformance.targets.hdl.connection_events import ConnectionEvents
from roceproof.conformance.targets.hdl.contract_config import config_of
from roceproof.conformance.targets.hdl.device import STEP_CYCLES, HdlTarget
from roceproof.conformance.targets.hdl.memory import HdlMemory, HdlRegion, access_of
from roceproof.conformance.targets.hdl.number_line import ADDRESSES, beside, other_domains
from roceproof.conformance.targets.hdl.static_memory import HdlStaticMemory
from roceproof.conformance.targets.hdl.work import ANSWERED
from roceproof.conformance.targets.interface import Beyond, TargetError, one_domain
from roceproof.dpi.contract.connection_records import ConnectionStep
from roceproof.dpi.contract.fields import contract_field
from roceproof.dpi.contract.receive_records import PostedReceive, ReceiveFlags
from roceproof.dpi.contract.records import QpCommand, QpConfig
from roceproof.dpi.manifest.responder import Management, Responder
from roceproof.dpi.session.events import Inbound, Until
from roceproof.dpi.session.simulation import Simulation
from roceproof.dpi.session.streams import PORTS, Standing
from roceproof.verbs.limits import DOMAIN
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.work import Outcome, Region, Work

_MESSAGES = 256  # of which the contract counts so many as one
_ON_OFFER = {Inbound.REGION: ("a region", "reg"), Inbound.RECEIVE: ("a receive", "rcv")}
_TAKEN_CYCLES = 2000  # by then the device has taken a record, if it can take it at all
_ATOMIC_BYTES = 8
_FIRST_CALLER = 0xCA11  # number of a queue pair that the device calls with
_OTHER_PSN = 0x5A5A5A
_NAMED = 4  # kinds of QPNs in a receive for a shared queue, which means none of them
_UNSAID = {QpCommand.INIT: ("rq_psn", "sq_psn"), QpCommand.RTR: ("sq_psn",)}
"""Start PSNs that a command says nothing of: those of later ones are others."""
_COMMANDS = {
    State.RESET: QpCommand.RESET,
    State.INIT: QpCommand.INIT,
    State.RTR: QpCommand.RTR,
    State.RTS: QpCommand.RTS,
    State.ERR: QpCommand.ERROR,
}


class HdlResponder(HdlTarget):
    """A device in lockstep with the ports of the contract's second version."""

    def __init__(
        self,
        simulation: Simulation,
        clock_ps: int,
        *,
        responder: Responder,
        cm: Management | None = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        """Domains, keys, addresses and numbers of queues are drawn from the seed."""
        self._cm = cm
        self._calls = 0
        self._connections = ConnectionEvents()
        self._untaken = {Inbound.REGION: 0, Inbound.RECEIVE: 0}
        self._taken: Counter[Inbound] = Counter()
        self._received = 0
        super().__init__(simulation, clock_ps, **options)
        self._memory = HdlMemory(
            simulation, regions=responder.regions, forgets=self._until_forgotten, seed=seed
        )
        self._built_in = (
            HdlStaticMemory(simulation, responder=responder) if responder.static_regions else None
        )
        draw = Random(f"responder {seed}")
        is_told = not responder.static_regions
        drawn = contract_field("qp_config_t", "pd").draw(draw) if is_told else 0
        own = self._fixed.get(DOMAIN, drawn)
        self._has_one_domain = DOMAIN in self._fixed or not is_told
        self._domains = [own, *beside(draw, own)]
        self._foreign_domains = other_domains(draw, own)
        self._shared_queues: list[int] = [*range(1, responder.shared_queues + 1)]
        """Their numbers, the last one first."""
        draw.shuffle(self._shared_queues)
        self._shared_queues.sort(key=lambda number: number != responder.shared_queues)
        self._draw = draw
        self._turns = cycle(draw.sample(range(_NAMED), _NAMED))
        self._configured: set[int] = set()
        self._states = responder.states
        self._most_receives = responder.receives
        self._queues: dict[int, int] = {}
        """Of each receive that the device holds the queue: a QPN, or below 0 a shared one."""

    def register(
        self, size: int, *, access: frozenset[str] = FULL_ACCESS, domain: int = 0
    ) -> Region:
        if domain and self._has_one_domain:
            raise one_domain()
        if self._built_in:
            return self._built_in.add(size, access)
        return self._register(size, access, self._domains[domain])

    def stray_writes(self) -> list[int]:
        return self._memory.stray_writes()

    def register_at(self, addr: int, size: int, *, access: frozenset[str] = FULL_ACCESS) -> Region:
        return self._register(size, access, self._domains[0], addr)

    def register_elsewhere(self, size: int) -> Region:
        if self._has_one_domain:
            raise one_domain()
        return self._register(size, FULL_ACCESS, next(self._foreign_domains))

    def _register(
        self, size: int, access: frozenset[str], domain: int, addr: int | None = None
    ) -> HdlRegion:
        if not self._memory.has_room:
            raise Beyond("it holds no more memory regions: [responder] regions says so")
        region = self._memory.add(size, access_of(access), pd=domain, addr=addr)
        self._note_record("memory_region_t", region.record)
        self._until_known(Inbound.REGION)
        return region

    def post(self, qp: Qp, work: Work) -> None:
        """What names no place for its answer gets one that nobody looks at."""
        if work.op in ANSWERED and work.into is None:
            work = replace(work, into=self.register(max(_ATOMIC_BYTES, work.size)))
        super().post(qp, work)

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
        """Post a receive, and run until the device has it, unless it may wait for room.

        One for a queue pair that is not there yet would be forgotten.
        """
        if not isinstance(region, HdlRegion):
            raise TargetError("a receive needs memory of the same device: register it there")
        shared = self._shared_queue_of(qp.spec)
        queue = -shared if shared else qp.qpn
        held = sum(each == queue for each in self._queues.values())
        if held >= self._most_receives and not may_wait:
            raise no_more_receives()
        if qp.qpn in self._new:
            self._until_configured()
        self._queues[wr_id] = queue
        record = PostedReceive(
            wr_id=wr_id,
            qpn=self._meaningless(qp) if shared else qp.qpn,
            lkey=region.lkey ^ key_mask,
            address=(region.addr + offset) % ADDRESSES,
            length=length,
            srq=shared,
        )
        self._note_record("receive_t", record)
        self._port.post_receive(record)
        if not may_wait:
            self._until_known(Inbound.RECEIVE)

    def _meaningless(self, qp: Qp) -> int:
        """The QPN beside a shared queue's number: none, who posts, any other, nobody, in turn."""
        other = self._draw.choice(sorted({qp.qpn, *self._configured}))
        nobody = contract_field("qp_config_t", "local_qpn").draw(self._draw)
        return (0, qp.qpn, other, nobody)[next(self._turns)]

    def set_state(self, qp: Qp, state: State) -> None:
        """By a command, where the device has them."""
        if state is State.RESET or not self._states:
            super().set_state(qp, state)
            return
        self._configure(qp.spec, qp.qpn, command=_COMMANDS[state])
        self._until_taken(Inbound.CONFIGURATION)

    def open(self, spec: QpSpec) -> Qp:
        """Configure a queue pair, and bring it to the state of its spec."""
        if spec.state is State.RTS or not self._states:
            return super().open(spec)
        first = QpCommand.RESET if spec.state is State.RESET else QpCommand.INIT
        self._configure(spec, spec.local_qpn, command=first)
        if spec.state is State.RTR:
            self._configure(spec, spec.local_qpn, command=QpCommand.RTR)
        return Qp(spec.local_qpn, spec)

    def listen(self, service_id: int, spec: QpSpec) -> None:
        """It does, all the time, to one service."""
        if self._cm is None or service_id != self._cm.service_id:
            raise Beyond(f"it does not listen to service {service_id:#x}")

    def accepted(self, qpn: int, spec: QpSpec) -> Qp:
        end = self._cycle + self._answer_cycles
        while (event := self._connections.last_of(qpn)) is None and self._cycle < end:
            self._run(STEP_CYCLES, Until.CYCLES)
        if event is None:
            raise AssertionError(f"cme_o never told of queue pair {qpn:#x}, which REQ or REP names")
        if event.step is ConnectionStep.ENDED:
            return Qp(qpn, spec)
        told = (event.remote_qpn, event.path_mtu.size, event.sq_psn, event.rq_psn)
        said = (spec.remote_qpn, spec.path_mtu, spec.sq_psn, spec.rq_psn)
        if told != said:
            raise AssertionError(
                f"cme_o tells otherwise of queue pair {qpn:#x} than REQ and REP\n"
                f"want  {_shown_connection(said)}\ngot   {_shown_connection(told)}"
            )
        return Qp(qpn, replace(spec, udp_sport=event.udp_sport, ip_id=event.ip_id))

    def contradictions(self) -> list[str]:
        """What it tells of its connections that cannot be."""
        return self._connections.wrong

    def call(self, service_id: int, spec: QpSpec) -> Qp:
        """By a command, where the device calls."""
        if self._cm is None or not self._cm.calls:
            raise Beyond("it makes connections only when it is asked")
        if service_id != self._cm.service_id:
            raise Beyond(f"it asks nobody for service {service_id:#x}")
        qpn = spec.local_qpn or _FIRST_CALLER + self._calls
        self._calls += 1
        self._connections.called(qpn)
        self._configure(spec, qpn, command=QpCommand.CONNECT)
        self._until_taken(Inbound.CONFIGURATION)
        return Qp(qpn, spec)

    def hang_up(self, qp: Qp) -> None:
        self._configure(qp.spec, qp.qpn, command=QpCommand.DISCONNECT)
        self._until_taken(Inbound.CONFIGURATION)

    def _configure(
        self, spec: QpSpec, qpn: int, *, command: QpCommand = QpCommand.ACTIVATE
    ) -> None:
        if command is QpCommand.RESET:
            self._queues = {wr_id: on for wr_id, on in self._queues.items() if on != qpn}
        self._configured.add(qpn)
        super()._configure(spec, qpn, command=command)

    def _config(self, spec: QpSpec, qpn: int, command: QpCommand) -> QpConfig:
        config = replace(
            config_of(spec, qpn, command=command),
            access=access_of(spec.access),
            pd=self._domains[spec.domain],
            qkey=spec.qkey,
            max_rd_atomic=spec.max_rd_atomic,
            max_dest_rd_atomic=spec.max_dest_rd_atomic,
            srq=self._shared_queue_of(spec),
            completed=_completed(spec.completed_messages),
        )
        unsaid = {name: getattr(config, name) ^ _OTHER_PSN for name in _UNSAID.get(command, ())}
        return replace(config, **unsaid)

    def power_on(self) -> None:
        """No key names anything, and no receive is posted."""
        super().power_on()
        self._memory.power_on()
        if self._built_in:
            self._built_in.power_on()
        self._untaken = dict.fromkeys(self._untaken, 0)
        self._queues.clear()
        self._connections.power_on()

    def _shared_queue_of(self, spec: QpSpec) -> int:
        """Its number, 0 where the queue pair has receives of its own."""
        if not spec.shared_receive:
            return 0
        if spec.shared_queue >= len(self._shared_queues):
            raise Beyond("it has no more shared queues: [responder] shared_queues says so")
        return self._shared_queues[spec.shared_queue]

    def _until_forgotten(self) -> None:
        """That waits for every access to memory that was admitted."""
        self._until_taken(Inbound.REGION, cycles=self._cycles(self.patience.answer_ns))

    def _until_known(self, stream: Inbound) -> None:
        """A device may take its time; of one that has not taken something, no more is hoped for."""
        begin = self._cycle
        cycles = self._pace.taken_cycles(self._answer_cycles, self._quiet_cycles)
        self._until_taken(stream, cycles=_TAKEN_CYCLES if self.waited_in_vain else cycles)
        if self._untaken[stream]:
            self._waits_in_vain()
            self._keeps_waiting(*_ON_OFFER[stream], self._cycle - begin)
        else:
            self._pace.longest_taken = max(self._pace.longest_taken, self._cycle - begin)

    def _until_taken(self, stream: Inbound, *, cycles: int = _TAKEN_CYCLES) -> None:
        self._untaken[stream] = 1
        end = self._cycle + cycles
        while self._untaken[stream] and self._cycle < end:
            self._run(STEP_CYCLES, Until.CYCLES)

    def _advance(self, cycles: int, until: Until) -> Until:
        came = super()._advance(cycles, until)
        self._connections.add(self._port.take_connections())
        for timed in self._port.take_receives():
            done = timed.completion
            self._note_record("receive_completion_t", done)
            queue = self._queues.pop(done.wr_id, None)
            is_good = done.status.name == "SUCCESS"
            has_immediate = ReceiveFlags.IMMEDIATE in done.flags
            has_key = ReceiveFlags.INVALIDATE in done.flags
            outcome = Outcome(
                wr_id=done.wr_id,
                status=done.status.name.lower(),
                is_receive=True,
                byte_len=done.byte_len if is_good else None,
                immediate=done.immediate if has_immediate else None,
                invalidated=done.immediate if has_key else None,
                solicited=ReceiveFlags.SOLICITED in done.flags if is_good else None,
                src_qpn=done.src_qpn if is_good else None,
                time_ns=self._ns(timed.cycle),
            )
            if queue is None or queue < 0 or queue == done.qpn:
                self._worked.add(done.qpn)
            self._received += 1
            self._outcomes[done.qpn].append(outcome)
            came |= Until.COMPLETION
        return came

    def _note_taken(self, stream: Inbound) -> None:
        super()._note_taken(stream)
        self._untaken[stream] = 0
        self._taken[stream] += 1

    def streams(self) -> list[str]:
        """And what of a responder is on offer to the device."""
        told, stands = super().streams(), self.standing()
        waiting = [name for name in ("reg", "rcv") if name in stands and stands[name].waits]
        return told + [
            f"  {name:<4}{stands[name].beats:>9,} taken: WAITS for the device: {PORTS[name]} is low"
            for name in waiting
        ]

    def standing(self) -> dict[str, Standing]:
        """Receives, their completions, and regions that are no constants, too."""
        found = super().standing()
        if found:
            regions = {} if self._built_in else {"reg": Inbound.REGION}
            for name, stream in (regions | {"rcv": Inbound.RECEIVE}).items():
                waits = bool(self._untaken[stream])
                found[name] = Standing(self._taken[stream], waits=waits)
            found["rcp"] = Standing(self._received)
        return found


def no_more_receives() -> Beyond:
    """Why a receive is not posted."""
    return Beyond("it holds no more receives on one queue: [responder] receives says so")


def _completed(messages: int) -> int:
    if messages % _MESSAGES:
        raise TargetError(f"{messages} messages cannot be told: take a multiple of {_MESSAGES}")
    return messages // _MESSAGES


def _shown_connection(values: tuple[int, int, int, int]) -> str:
    remote, mtu, sq_psn, rq_psn = values
    return f"remote {remote:#x}, path MTU {mtu}, sends from {sq_psn:#x}, expects {rq_psn:#x}"
