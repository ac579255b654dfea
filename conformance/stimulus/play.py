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

from ipaddress import ip_address
from random import Random
from typing import Any

from roceproof.conformance.model.segment import PSN_MODULUS
from roceproof.conformance.stimulus.answers import DAMAGED, response
from roceproof.conformance.stimulus.bounds import may_post
from roceproof.conformance.stimulus.foreign import FOREIGN
from roceproof.conformance.stimulus.life import Life, payload
from roceproof.conformance.stimulus.queue_pair import QueuePair, spec_of
from roceproof.conformance.stimulus.scene import Scene
from roceproof.conformance.stimulus.state import Response
from roceproof.conformance.stimulus.watched import judge_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.addresses import Host, parse_mac
from roceproof.verbs.queue_pair import Qp, QpSpec, State
from roceproof.verbs.work import Op, Work

_ACK = 0x1F
_UNCERTAIN_LIVES = 3
_ID_STEP, _ADDRESS_STEP, _KEY_STEP = 0x9E3779B97F4A7C15, 0x0123456789ABCDEF, 0x9E3779B1


class Play:
    """One device, one plan."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._scene = Scene(bench)
        self._posted = 0
        self._sent = 0

    # queue pairs

    def connect(self, key: int, **fields: Any) -> None:
        """A queue pair starts; one that is there starts anew amid whatever it does.

        `fields` are those of `QpSpec`, with `service`, `remote_mac` and `remote_ip` as text.
        """
        spec = spec_of(self._bench, key, fields)
        known = self._scene.qps.get(key)
        if known is None:
            qp = self._bench.target.open(spec)
            self._add(key, qp, spec, is_active=True)
        elif self._claims(Capability.RESTART):
            self._limit(known)
            self._live(known, self._bench.target.restart(known.qp, spec), spec, is_active=True)
        else:
            self._scene.settle()
            self._live(known, self._bench.target.reopen(known.qp, spec), spec, is_active=True)

    def restart(self, key: int, *, times: int = 1) -> None:
        """A queue pair starts anew so often, always from where it started last."""
        known = self._scene.qps.get(key)
        if known is None or not known.life.is_active or not self._claims(Capability.RESTART):
            return
        if times > 1:
            self._scene.settle()
        for _ in range(times):
            spec = known.life.spec
            self._live(known, self._bench.target.restart(known.qp, spec), spec, is_active=True)

    def idle(self, key: int, **fields: Any) -> None:
        """A queue pair that is never configured: what is posted on it must be refused."""
        spec = spec_of(self._bench, key, fields)
        if key not in self._scene.qps and self._claims(Capability.RESTART):
            self._add(key, Qp(spec.local_qpn, spec), spec, is_active=False)

    def reset(self, key: int) -> None:
        """The queue pair is made inactive amid whatever it does."""
        known = self._scene.qps.get(key)
        if known is None or not self._claims(Capability.RESTART):
            return
        self._limit(known)
        self._bench.target.set_state(known.qp, State.RESET)
        self._live(known, known.qp, known.life.spec, is_active=False)

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
        fill: int | None = None,
        length: int | None = None,
    ) -> None:
        """Post `count` messages at once; each grows by so many bytes, and its numbers differ."""
        known = self._scene.qps.get(key)
        claims, is_beyond = self._bench.claims, length is not None
        if known is None:
            return
        if not may_post(claims, known.life.spec.service, Op[op], is_beyond=is_beyond):
            return
        lanes = (claims.data_width or 8) // 8 if self._claims(Capability.ALIGNMENT) else 1
        for turn in range(count):
            self._posted += 1
            said = claims.limits.bend(max(size + turn * grow, int(is_beyond)))
            first = self._posted if wr_id is None else wr_id + turn * _ID_STEP
            work = Work(
                wr_id=first % (1 << 64),
                op=Op[op],
                data=payload(self._posted, said, fill),
                remote_addr=(remote_addr + turn * _ADDRESS_STEP) % (1 << 64),
                rkey=(rkey + turn * _KEY_STEP) % (1 << 32),
                immediate=(immediate + turn * _KEY_STEP) % (1 << 32),
                solicited=bool(claims.limits.fixed.get("solicited", solicited)),
                offset=offset % lanes,
                length=length,
            )
            if self._is_full(known, work):
                return
            self._scene.pace.posts(known.life.spec.path_mtu)
            known.judge.posted(work)
            self._bench.target.post(known.qp, work)

    # the far side

    def answer(
        self,
        key: int,
        *,
        back: int = 0,
        oldest: int | None = None,
        ahead: int | None = None,
        syndrome: int = _ACK,
        count: int = 1,
        flaw: str | None = None,
        bit: int = 0,
        trailer: int = 0,
        **fields: int,
    ) -> None:
        """Answer at a PSN: so far back from the newest seen, from the oldest, ahead of all posted.

        A `flaw` is one that makes the device ignore it (`answers`); `fields` are a pattern's.
        """
        known = self._scene.qps.get(key)
        if known is None or not known.is_reliable:
            return
        psn = (known.judge.newest - back) % PSN_MODULUS
        if ahead is not None:
            psn = (known.judge.end_psn - 1 + ahead) % PSN_MODULUS
        elif oldest is not None and known.judge.unanswered is not None:
            psn = (known.judge.unanswered[0] + oldest) % PSN_MODULUS
        if flaw == "alias" and self._scene.is_known(known.qp.qpn ^ 1 << bit % 24):
            return
        frame = response(
            known.codec,
            psn=psn,
            syndrome=syndrome,
            flaw=flaw,
            bit=bit,
            trailer=trailer,
            **fields,
        )
        for _ in range(count):
            if flaw is None:
                self._scene.send(frame)
                lag = self._scene.pace.lag_ns(self._bench.target.now_ns)
                now = self._bench.target.now_ns
                known.judge.answered(Response(psn, syndrome, now, now + lag))
            else:
                self._scene.send(frame, is_void=True, is_damaged=flaw == DAMAGED)

    def serve(self, key: int, every: int = 1) -> None:
        """From now on the far side acknowledges every so many messages by itself; 0 ends that."""
        known = self._scene.qps.get(key)
        if known is not None and known.is_reliable:
            known.serve_every = every

    # others

    def foreign(self, kind: str, size: int = 0, *, count: int = 1, damaged: bool = False) -> None:
        """Frames that concern nobody."""
        host = self._bench.target.host
        for _ in range(count):
            self._sent += 1
            frame = FOREIGN[kind](self._bench.peers[1], host, Random(self._sent), size)
            self._scene.send(frame, is_void=True, is_damaged=damaged)

    def ask(
        self,
        size: int | None = None,
        *,
        mac: str | None = None,
        ip: str | None = None,
        count: int = 1,
        damaged: bool = False,
    ) -> None:
        """ARP requests or, with a size, echo requests."""
        if not self._claims(Capability.LOCKSTEP):
            return
        asker = self._bench.peers[1]
        asker = Host(
            parse_mac(mac) if mac else asker.mac, ip_address(ip).packed if ip else asker.ip
        )
        for _ in range(count):
            self._scene.ask(asker, size, is_damaged=damaged)

    # time

    def disturb(self, **percent: int) -> None:
        """Hold streams back from now on."""
        self._scene.disturb(percent)

    def wait(self, ns: int) -> None:
        """Let time pass."""
        self._scene.advance(ns)

    def until(self, frames: int = 1, *, within: int = 20_000) -> None:
        """Wait for so many frames of the device, and not longer."""
        self._scene.until(frames, within)

    def settle(self) -> None:
        """The far side answers everything, and everything ends."""
        self._scene.settle()

    def finish(self) -> None:
        """Everything ends, and the device is as healthy as before."""
        self._scene.settle()
        for key in list(self._scene.qps):
            known = self._scene.qps[key]
            if known.life.is_active and not known.judge.is_dead:
                self.post(key, self._operation_of(known), 1)
                break
        self._scene.settle()
        self._scene.close()

    # inside

    def _is_full(self, known: QueuePair, work: Work) -> bool:
        """Whether the device may not have so much outstanding."""
        limits = self._bench.claims.limits
        if not limits.limits_depth:
            return False
        owed = known.judge.owed()
        packets = known.life.packets(work) * (1 + len(owed))
        return limits.against_depth(1 + len(owed), packets) is not None

    def _limit(self, known: QueuePair) -> None:
        """Where nobody knows any more in which life the device is, wait until it tells."""
        if known.judge.uncertain_lives >= _UNCERTAIN_LIVES:
            self._scene.settle()

    def _operation_of(self, known: QueuePair) -> str:
        claims, service = self._bench.claims, known.life.spec.service
        names = ("SEND", "WRITE", "SEND_IMM", "WRITE_IMM")
        found = (name for name in names if may_post(claims, service, Op[name], is_beyond=False))
        return next(found, names[0])

    def _claims(self, capability: Capability) -> bool:
        return capability in self._bench.claims.capabilities

    def _add(self, key: int, qp: Qp, spec: QpSpec, *, is_active: bool) -> None:
        life = Life(spec=spec, host=self._bench.target.host_for(spec), is_active=is_active)
        judge = judge_of(
            life,
            retransmits=self._claims(Capability.RETRANSMISSION),
            is_ordered=self._claims(Capability.RESTART),
        )
        self._scene.add(key, QueuePair(qp, judge, life))

    def _live(self, known: QueuePair, qp: Qp, spec: QpSpec, *, is_active: bool) -> None:
        life = Life(
            spec=spec,
            host=known.life.host,
            is_active=is_active,
            posted_before=known.judge.posted_count,
        )
        known.is_unclear |= bool(known.judge.owed())
        known.lives(life, qp)
        known.unserved = 0
        self._scene.changed(known)
