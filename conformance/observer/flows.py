# SPDX-License-Identifier: BSD-2-Clause
"""All flows of a capture, and which two of them are the directions of one queue pair."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from roceproof.conformance.observer.facts import Facts
from roceproof.conformance.observer.flow import Flow
from roceproof.conformance.observer.gaps import Late
from roceproof.conformance.observer.messages import Unfinished
from roceproof.conformance.observer.reads import Unanswered
from roceproof.conformance.rules.findings import FlowKey
from roceproof.conformance.wire.opcodes import Transport

_MOST_WAITING = 256


class Flows:
    """Flows by key, in order of appearance."""

    def __init__(self, facts: Facts, path_mtu: int | None) -> None:
        self._facts = facts
        self._path_mtu = path_mtu
        self._flows: dict[FlowKey, Flow] = {}
        self._between: defaultdict[tuple[int, bytes, bytes], list[Flow]] = defaultdict(list)
        self.overdue: list[Late] = []
        """What is known now to be wrong with earlier packets."""

    def known(self, key: FlowKey) -> Flow | None:
        return self._flows.get(key)

    def of(self, key: FlowKey) -> Flow:
        flow = self._flows.get(key)
        return self._add(key) if flow is None else flow

    def _add(self, key: FlowKey) -> Flow:
        interface, src, dst, _ = key
        facts = self._facts.of_flow(src, dst, key.dest_qpn)
        if self._path_mtu is not None and facts.path_mtu is None:
            facts = replace(facts, path_mtu=self._path_mtu)
        flow = Flow(key, facts, self.overdue)
        self._flows[key] = flow
        self._between[interface, src, dst].append(flow)
        if facts.own_qpn is not None:
            other = self.of(FlowKey(interface, dst, src, facts.own_qpn))
            if other is not flow:
                flow.link(other)
        return flow

    def find_counterpart(self, flow: Flow, psn: int) -> None:
        """Link a flow to the only one whose requests a response with that PSN can answer."""
        interface, src, dst, _ = flow.key
        waiting = [
            other
            for other in self._between[interface, dst, src]
            if other.has_requests and other.counterpart is None and other is not flow
        ]
        if len(waiting) > _MOST_WAITING:
            return
        candidates = [other for other in waiting if other.requests.holds(psn)]
        reliable = [other for other in candidates if other.service is Transport.RC]
        chosen = reliable or candidates
        if len(chosen) == 1:
            flow.link(chosen[0])

    def unfinished(self) -> Iterator[tuple[FlowKey, Unfinished]]:
        """Messages that are still open."""
        for key, flow in self._flows.items():
            message = flow.requests.messages.unfinished
            if message is not None:
                yield key, message

    def unanswered(self) -> Iterator[tuple[FlowKey, Unanswered]]:
        """The last READ or ATOMIC of each flow, if its answer is not whole."""
        for key, flow in self._flows.items():
            read = flow.requests.reads.unanswered(flow.path_mtu)
            if read is not None and flow.counterpart is not None:
                yield key, Unanswered(read.frame, len(read.seen), read.span(flow.path_mtu))

    def give_up(self) -> None:
        """The capture has ended: what is open stays open."""
        for flow in self._flows.values():
            flow.give_up()
