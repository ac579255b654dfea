# SPDX-License-Identifier: BSD-2-Clause
"""The device of a play, its queue pairs and time: what is done to them, until all is at rest."""

from __future__ import annotations

from collections.abc import Mapping

from roceproof.conformance.stimulus.requester.arp_and_ping import Neighbourhood
from roceproof.conformance.stimulus.requester.arrivals import Arrivals
from roceproof.conformance.stimulus.requester.queue_pair import QueuePair
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

_TOLD = 2
_RESTLESS, _MOST_BUSY = 10, 16
"""So often the patience for an answer is waited for rest, and that for silence before an answer."""
_IN_VAIN = 4  # answers of which a device that moves takes notice


class Scene(Arrivals):
    """The device, its queue pairs, and time."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._macs: dict[bytes, bytes] = {}

    # queue pairs

    def add(self, key: int, known: QueuePair) -> None:
        """A queue pair is there."""
        self.qps[key] = known
        self.changed(known)

    def changed(self, known: QueuePair) -> None:
        spec = known.life.spec
        owners = self._owners.setdefault((spec.remote.ip, spec.remote_qpn), [])
        if known not in owners:
            owners.append(known)
        if known.life.is_active:
            self.bench.transcript.know(known.qp, known.life.host)

    def power_on(self) -> None:
        """Whatever was known is gone."""
        self._is_again = True
        self.qps.clear()
        self.landings.power_on()
        self._owners.clear()
        stalls, self.pace = self.pace.stalls, self._fresh_pace()
        self.pace.disturb(stalls)
        self._neighbourhood = self._fresh_neighbourhood()

    def is_another(self, key: int, spec: QpSpec) -> bool:
        """Whether a queue pair would have the number, or the far end, of another in the plan."""
        end = spec.remote.ip, spec.remote_qpn
        if key not in self.qps and self._is_told and self.is_known(spec.local_qpn):
            return True
        others = (known.life.spec for number, known in self.qps.items() if number != key)
        is_one = spec.service is Service.UD or not self._is_told
        return is_one and end in {(each.remote.ip, each.remote_qpn) for each in others}

    def is_known(self, qpn: int) -> bool:
        """Whether a queue pair of that number is in the plan."""
        return any(known.qp.qpn == qpn for known in self.qps.values())

    # to the device

    def host_of(self, host: Host) -> Host:
        """The host; a device that asks for addresses knows one MAC for each IP, the first."""
        if not self.bench.claims.resolves_addresses:
            return host
        return host._replace(mac=self._macs.setdefault(host.ip, host.mac))

    def ask(
        self, asker: Host, size: int | None, said: Mapping[str, int], *, is_damaged: bool
    ) -> None:
        """ARP, or with a size an echo request."""
        if is_damaged:
            frame = Neighbourhood(self.bench.target.host).asks(asker, size, **said)
        else:
            asker = self.host_of(asker)
            frame = self._neighbourhood.asks(asker, size, **said)
            self.bench.target.plays(asker)
        self.send(frame, is_void=True, is_damaged=is_damaged)

    def disturb(self, percent: dict[str, int]) -> None:
        """Hold streams back, those that are not named no more."""
        if Capability.DISTURBANCE in self.bench.claims.capabilities:
            self.pace.disturb(percent)
            self.bench.target.disturb(**percent)

    # time

    def advance(self, ns: int) -> None:
        """Let time pass, and judge what comes."""
        target = self.bench.target
        if any(known.serve_every for known in self.qps.values()):
            end = target.now_ns + ns
            while target.now_ns < end:
                arrival = target.receive(end - target.now_ns)
                self._take([arrival] if arrival else [])
        elif Capability.LOCKSTEP in self.bench.claims.capabilities:
            target.wait(max(1, ns))
            self._take([])
        else:
            self.until(1 << 30, ns)
        self._judge_time()

    def until(self, frames: int, within_ns: int) -> int:
        """Wait for so many frames; how many have not come."""
        target = self.bench.target
        end = target.now_ns + within_ns
        while frames > 0 and target.now_ns < end:
            arrival = target.receive(end - target.now_ns)
            if arrival is None:
                break
            frames -= 1 + self._take([arrival])
        return max(0, frames - self._take([]))

    def settle(self) -> None:
        """Answer everything, until nothing is owed any more."""
        self.disturb({})
        patience = self.bench.target.patience
        still = in_vain = 0
        begun = answered_ns = self.bench.target.now_ns
        while True:
            before = self._events
            self.advance(patience.quiet_ns)
            now = self.bench.target.now_ns
            if self._events != before:
                in_vain = 0
            if not self._is_told and now - begun > _RESTLESS * patience.answer_ns:
                raise self.bench.failed("want  rest\ngot   frames without end", rules=["LIVE-02"])
            goes_on = self._is_told or now - answered_ns < _MOST_BUSY * patience.quiet_ns
            if (self._events != before and goes_on) or self.pace.is_busy(now):
                still = 0
                continue
            for known in self.qps.values():
                known.judge.rested(self.bench.target.now_ns - patience.quiet_ns)
            owing = [known for known in self.qps.values() if known.judge.owed()]
            if not owing and not self._neighbourhood.is_owing:
                break
            answered = in_vain < _IN_VAIN and [each for each in owing if self._acknowledge(each)]
            if answered:
                answered_ns = now
                in_vain += 1
                continue
            still += patience.quiet_ns
            if still > patience.answer_ns:
                if not owing:
                    break
                self._fail_owing(owing)
        for known in self.qps.values():
            known.settled()
        problem = self._neighbourhood.settled()
        if problem is not None:
            raise self.bench.failed(problem, rules=["LIVE-01"])

    def close(self) -> None:
        self._is_over = True
        self.advance(self.bench.target.patience.quiet_ns)
        for known in self.qps.values():
            self._judge_violations(known)
        self.landings.judge()

    def _acknowledge(self, known: QueuePair) -> bool:
        unanswered = known.judge.unanswered if known.is_reliable else None
        if unanswered is None or known.judge.is_dead:
            return False
        self.acknowledge(known, unanswered[1])
        return True

    def _fail_owing(self, owing: list[QueuePair]) -> None:
        told = [f"qp {known.qp.qpn:#x}: {known.judge.owed()[0]}" for known in owing[:_TOLD]]
        raise self.bench.failed("want  a completion\ngot   nothing in time\n" + "\n".join(told))

    def _judge_time(self) -> None:
        now, patience = self.bench.target.now_ns, self.bench.target.patience
        turns = len(self.qps) * self.pace.withheld_ns()  # a timeout is told between two frames
        grace = 2 * self.pace.lag_ns(now) + patience.answer_ns + turns
        for known in self.qps.values():
            if known.is_reliable and known.judge.overdue(now, grace):
                debt = next(iter(known.judge.owed()), "work")
                if known.judge.uncertain_lives:
                    text, rules = "flushed, as its queue pair was configured", ["QPS-04", "QPS-03"]
                else:
                    text = "completed with retry_exc_err, its time being over"
                    rules = ["RTX-01", "RTX-05"]
                raise self.bench.failed(f"want  {debt} {text}\ngot   nothing", rules=rules)
