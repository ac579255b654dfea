# SPDX-License-Identifier: BSD-2-Clause
"""Plays stimulus on a device through the bench, and judges all that the device does meanwhile.

    play = Play(bench)
    play.connect(0, service="RC", path_mtu=256)
    play.post(0, "WRITE", 300)
    play.wait(2000)
    play.answer(0)
    play.finish()

What is not said is simple, so that a plan which was reduced says only what matters. Nothing has to
be expected: every packet is held against its prediction byte by byte, every completion against
what was answered. What the device does not claim is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.model.monitor.requester_monitor import MonitorTiming
from roceproof.conformance.model.segmentation import AWAIT_DATA
from roceproof.conformance.stimulus.requester.bounds import may_post
from roceproof.conformance.stimulus.requester.incarnation import Life, payload
from roceproof.conformance.stimulus.requester.queue_pair import QueuePair, spec_of
from roceproof.conformance.stimulus.requester.remote_peer import FarSide
from roceproof.conformance.stimulus.requester.retry_checker import TIMING, Judge, judge_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.queue_pair import Qp, QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import ATOMICS, Op, Work

_UNCERTAIN_LIVES = 3
_REMOTE_ERROR = 0x62
_FLUSH_NS = 300
_MOST_AT_ONCE = 16
"""Messages that one step posts where each takes two calls of an agent."""
_SHARES = 4  # of the time after which a device is quiet
_SLOWEST = 4
"""How often the usual time for an answer a frame may take where streams are held back."""
_LATEST = 4
"""How many times its value a timer may take."""
_AWAITED_NS = 5_000_000
_ID_STEP, _ADDRESS_STEP, _KEY_STEP = 0x9E3779B97F4A7C15, 0x0123456789ABCDEF, 0x9E3779B1


class Play(FarSide):
    """One device, one plan."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._posted = 0
        self._strangers: set[int] = set()
        """Queue pairs that were never configured."""
        self._is_endless = False

    # queue pairs

    def connect(self, key: int, **fields: Any) -> None:
        """A queue pair starts; one that is there starts anew amid whatever it does.

        None does with the number of another one. Work that waits may be taken in the next life, and
        a datagram says itself where it goes and fits a packet: no queue pair begins or ceases to be
        one of datagrams, whose ends and path MTU stay. `fields` are those of `QpSpec`, with
        `service`, `remote_mac` and `remote_ip` as text.
        """
        spec = self._spec_of(key, fields)
        known = self.scene.qps.get(key)
        if known is not None and Service.UD in {spec.service, known.life.spec.service}:
            if spec.service is not known.life.spec.service:
                return
            kept = {name: getattr(known.life.spec, name) for name in ("remote_qpn", "path_mtu")}
            spec = replace(spec, local_qpn=known.qp.qpn, **kept)
        if self.scene.is_another(key, spec):
            return
        self._free(spec.local_qpn % self.bench.claims.qps, but=key)
        if known is None:
            qp = self.bench.target.open(spec)
            self._add(key, qp, qp.spec, is_active=True)
        elif key in self._strangers:
            self._strangers.discard(key)
            self._ready(known, spec)
            self._live(known, self.bench.target.open(spec), spec, is_active=True)
        elif self._claims(Capability.RESTART):
            self._ready(known, spec)
            self._live(known, self.bench.target.restart(known.qp, spec), spec, is_active=True)
        elif known.life.spec.service is spec.service:
            self.scene.settle()
            qp = self.bench.target.reopen(known.qp, spec)
            self._live(known, qp, qp.spec, is_active=True)

    def _spec_of(self, key: int, fields: dict[str, Any]) -> QpSpec:
        spec = spec_of(self.bench, key, fields)
        return replace(spec, remote=self.scene.host_of(spec.remote))

    def _free(self, place: int, *, but: int) -> None:
        """No two queue pairs are active in one place: another that is there is reset."""
        for key, other in list(self.scene.qps.items()):
            if (
                key != but
                and self._claims(Capability.LOCKSTEP)
                and other.life.is_active
                and other.life.spec.local_qpn % self.bench.claims.qps == place
            ):
                self.reset(key)

    def restart(self, key: int, *, times: int = 1) -> None:
        """A queue pair starts anew so often, always from where it started last."""
        known = self.scene.qps.get(key)
        if known is None or not known.life.is_active or not self._claims(Capability.RESTART):
            return
        if times > 1:
            self.scene.settle()
        self._ready(known, known.life.spec)
        for _ in range(times):
            spec = known.life.spec
            self._live(known, self.bench.target.restart(known.qp, spec), spec, is_active=True)

    def idle(self, key: int, **fields: Any) -> None:
        """A queue pair that is never configured: what is posted on it must be refused."""
        spec = self._spec_of(key, fields)
        is_another = key in self.scene.qps or self.scene.is_known(spec.local_qpn)
        if not is_another and self._claims(Capability.RESTART):
            self._add(key, Qp(spec.local_qpn, spec), spec, is_active=False)
            self._strangers.add(key)

    def reset(self, key: int) -> None:
        """The queue pair is made inactive amid whatever it does."""
        known = self.scene.qps.get(key)
        if known is None or not self._claims(Capability.RESTART):
            return
        self._ready(known, known.life.spec)
        self.bench.target.set_state(known.qp, State.RESET)
        self._live(known, known.qp, known.life.spec, is_active=False)

    def power_on(self) -> None:
        """The whole device is reset: nothing of it is known any more, and nothing comes of it."""
        if self._claims(Capability.POWER_ON):
            self.bench.power_on()
            self.scene.power_on()
            self._strangers.clear()

    # work

    def post(
        self,
        key: int,
        op: str = "SEND",
        size: int = 0,
        *,
        count: int = 1,
        grow: int = 0,
        wr_id: int | None = None,
        remote_addr: int = 0,
        rkey: int = 0,
        immediate: int = 0,
        solicited: bool = False,
        offset: int = 0,
        shift: int = 0,
        fill: int | None = None,
        length: int | None = None,
        into: int = 0,
        swap: int = 0,
        compare: int = 0,
    ) -> None:
        """Post `count` messages at once, whose numbers differ.

        Each is so many bytes longer than the one before, and begins so many lanes further on. What
        READs and atomics return goes `into` the region of that number, to a place of its own.
        """
        known = self.scene.qps.get(key)
        claims, is_beyond = self.bench.claims, length is not None
        if known is None:
            return
        if not may_post(claims, known.life.spec.service, Op[op], is_beyond=is_beyond):
            return
        count = count if self._claims(Capability.LOCKSTEP) else min(count, _MOST_AT_ONCE)
        lanes = (claims.data_width or 8) // 8 if self._claims(Capability.ALIGNMENT) else 1
        for turn in range(count):
            self._posted += 1
            said = claims.limits.bend(max(size + turn * grow, int(is_beyond)))
            said = 0 if self._is_endless else said
            first = self._posted if wr_id is None else wr_id + turn * _ID_STEP
            fields: dict[str, Any] = {
                "remote_addr": (remote_addr + turn * _ADDRESS_STEP) % (1 << 64),
                "rkey": (rkey + turn * _KEY_STEP) % (1 << 32),
                "immediate": (immediate + turn * _KEY_STEP) % (1 << 32),
                "solicited": solicited,
                "offset": (offset + turn * shift) % lanes,
                "data": payload(self._posted, said, fill),
                "length": length,
            }
            if known.life.spec.service is Service.UD:
                fields |= _to_the_peer(known.life.spec, fields)
            if Op[op] in AWAIT_DATA:
                fields |= {"data": b"", "length": 8 if Op[op] in ATOMICS else said}
                fields |= {"swap_or_add": swap, "compare": compare}
            if Op[op] in ATOMICS:  # whose address must be a multiple
                fields["remote_addr"] &= ~7
            work = Work(
                wr_id=first % (1 << self.bench.wr_id_bits),
                op=Op[op],
                **(fields | claims.limits.chosen(known.first)),
            )
            if self._is_full(known, work):
                return
            if work.op in AWAIT_DATA:
                landing = self.scene.landings.place(into, work.size, work.offset)
                if landing is None:
                    return
                work = replace(work, into=landing[0], into_offset=landing[1])
            self.scene.pace.posts(known.life.spec.path_mtu)
            known.posted(work)
            self.bench.remember(work)
            self.bench.target.post(known.qp, work)

    def wear(self, key: int, *, times: int = 1, syndrome: int = _REMOTE_ERROR) -> None:
        """So often: a message, an answer that fails it, and a start anew where it began."""
        known = self.scene.qps.get(key)
        if known is None or not known.is_reliable or not self._claims(Capability.RESTART):
            return
        for _ in range(times if known.life.is_active else 0):
            self.post(key, self._operation_of(known), 1)
            self.until()
            self.answer(key, syndrome=syndrome)
            self.scene.advance(_FLUSH_NS)
            self.restart(key)

    def endless(self, key: int, op: str, length: int, *, frames: int = 4, **fields: Any) -> None:
        """The first frames of a message too long to be simulated; all else has ended before."""
        known, claims = self.scene.qps.get(key), self.bench.claims
        if known is None or claims.data_width is None or self._is_endless:
            return
        if known.life.spec.flow_control:  # it may stop behind each frame
            return
        if not may_post(claims, known.life.spec.service, Op[op], is_beyond=True):
            return
        self.scene.settle()
        self._is_endless = True
        self.post(key, op, length=length, **fields)
        for came in range(frames):
            self._goes_on(known, length, came)

    def _goes_on(self, known: QueuePair, length: int, came: int) -> None:
        """A frame more comes, as long as the queue pair has not failed."""
        if not known.life.is_active or known.judge.is_dead:
            return self.until()
        patience_ns = _SLOWEST * self.bench.target.patience.answer_ns
        if self.scene.until(1, patience_ns) and not known.judge.is_dead:
            raise self.bench.failed(
                f"want  a frame behind {came} others, in a message of {length:,} bytes\n"
                "got   nothing in time",
                rules=["MTU-07"],
            )

    # time

    def disturb(self, **percent: int) -> None:
        """Hold streams back from now on."""
        self.scene.disturb(percent)

    def wait(self, ns: int) -> None:
        """Let time pass."""
        self.scene.advance(ns)

    def until(self, frames: int = 1, *, within: int = 20_000) -> None:
        """Wait for so many frames of the device, and not longer."""
        self.scene.until(frames, within)

    def expire(self) -> None:
        """Nobody answers, until everything has ended that has a timer of some milliseconds."""
        patience, begun = self.bench.target.patience, self.bench.target.now_ns
        while longest := max(map(_latest_ns, self.scene.qps.values()), default=0):
            if self.bench.target.now_ns - begun > longest + 2 * patience.answer_ns:
                return  # who is late is told by who judges it
            self.scene.advance(patience.quiet_ns // _SHARES)

    def settle(self) -> None:
        """The far side answers everything, and everything ends."""
        self.scene.settle()

    def finish(self) -> None:
        """Everything ends, and each queue pair is as healthy as before."""
        if self._is_endless:
            return
        self.scene.settle()
        for key in list(self.scene.qps):
            known = self.scene.qps[key]
            if known.judge.is_dead:
                self.restart(key)
            if known.life.is_active and not known.judge.is_dead:
                self.post(key, self._operation_of(known), 1)
        self.scene.settle()
        self.scene.close()

    # inside

    def _is_full(self, known: QueuePair, work: Work) -> bool:
        """Whether the device may not have so much outstanding."""
        limits = self.bench.claims.limits
        if not limits.limits_depth:
            return False
        counted = self.scene.qps.values() if limits.outstanding_shared else [known]
        packets = [count for each in counted for _, count in each.open]
        packets.append(known.life.span(work))
        return limits.against_depth(len(packets), sum(packets)) is not None

    def _ready(self, known: QueuePair, spec: QpSpec) -> None:
        """Where nobody knew any more in which life the device is, wait until it tells."""
        repeats = known.is_reliable or spec.service is Service.RC
        may_send_again = repeats and self._claims(Capability.RETRANSMISSION)
        if may_send_again or known.judge.uncertain_lives >= _UNCERTAIN_LIVES:
            self.scene.settle()

    def _operation_of(self, known: QueuePair) -> str:
        claims, service = self.bench.claims, known.life.spec.service
        names = ("SEND", "WRITE", "SEND_IMM", "WRITE_IMM", "READ", "FETCH_ADD")
        found = (name for name in names if may_post(claims, service, Op[name], is_beyond=False))
        return next(found, names[0])

    def _add(self, key: int, qp: Qp, spec: QpSpec, *, is_active: bool) -> None:
        life = Life(
            spec=spec,
            host=self.bench.target.host_for(spec),
            is_active=is_active,
            identification=self.bench.claims.limits.identification,
            flushes=self.bench.claims.limits.flushes,
        )
        self.scene.add(key, QueuePair(qp, self._judge_of(life), life))

    def _judge_of(self, life: Life) -> Judge:
        return judge_of(
            life,
            retransmits=self._claims(Capability.RETRANSMISSION),
            is_ordered=self._claims(Capability.RESTART),
            timing=self._timing,
        )

    @property
    def _timing(self) -> MonitorTiming:
        if self._claims(Capability.LOCKSTEP):
            return TIMING
        late_ns = self.bench.target.patience.answer_ns
        return MonitorTiming(reaction_ns=late_ns, prompt_ns=late_ns)

    def _live(self, known: QueuePair, qp: Qp, spec: QpSpec, *, is_active: bool) -> None:
        life = Life(
            spec=spec,
            host=self.bench.target.host_for(spec),
            is_active=is_active,
            posted_before=known.judge.posted_count,
            identification=known.life.identification,
            flushes=known.life.flushes,
        )
        was_reliable = known.is_reliable
        known.lives(life, qp)
        if was_reliable != known.is_reliable and self._claims(Capability.RETRANSMISSION):
            known.judge = self._judge_of(replace(life, posted_before=0))
        known.unserved = 0
        self.scene.changed(known)


def _latest_ns(known: QueuePair) -> int:
    """How long a queue pair may wait that waits for nothing but its timer; 0 if it does not."""
    spec = known.life.spec
    timeout_ns = ack_timeout_ns(spec.ack_timeout) if known.is_reliable else None
    if timeout_ns is None or timeout_ns > _AWAITED_NS or not known.life.is_active:
        return 0
    if not known.judge.owed():
        return 0
    return _LATEST * timeout_ns * (1 + spec.retry_count)


def _to_the_peer(spec: QpSpec, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a datagram of a message: it goes to the other end, with the key that is said."""
    return {
        "datagram_qpn": spec.remote_qpn,
        "datagram_qkey": fields["rkey"],
        "data": fields["data"][: spec.path_mtu],
    }
