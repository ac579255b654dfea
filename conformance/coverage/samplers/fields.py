# SPDX-License-Identifier: BSD-2-Clause
"""Bits and values of the contract's fields. A bit counts once in a device's life."""

from collections.abc import Mapping

from roceproof.conformance.coverage.queue_pairs import QueuePair
from roceproof.conformance.coverage.samplers.sampler import Life, Sampler
from roceproof.conformance.targets.bus_events import Completed, Configured, Posted

_ECN = ("Not-ECT", "ECT(1)", "ECT(0)", "CE")


class _Bits:
    def __init__(self, life: Life, point: str) -> None:
        self._life = life
        self._point = point
        self._masks = life.table.masks(point)
        self._seen: dict[str, list[int]] = {}

    def see(self, values: Mapping[str, int]) -> None:
        for name, value in values.items():
            seen = self._seen.setdefault(name, [0, 0])
            seen[0] |= ~value
            seen[1] |= value

    def finish(self) -> None:
        names: list[str] = []
        for name, seen in self._seen.items():
            mask = self._masks.get(name, 0)
            for value in (0, 1):
                left = mask & seen[value]
                while left:
                    lowest = left & -left
                    names.append(f"{name}.{lowest.bit_length() - 1}/{value}")
                    left ^= lowest
        self._life.counts.add_each(self._point, names)


class FieldSampler(Sampler):
    """Configurations, work requests, completions, and the device's own addresses."""

    def __init__(self, life: Life) -> None:
        super().__init__(life)
        self._config = _Bits(life, "config.bits")
        self._work = _Bits(life, "work.bits")
        self._completion = _Bits(life, "completion.bits")
        self._start_psns = life.table.ranges("start_psn")

    def configured(self, movement: Configured, *, is_restart: bool) -> None:
        spec = movement.spec
        service = spec.service.name
        again = is_restart and movement.command == "activate"
        self.add("config.command", service, "restart" if again else movement.command)
        if movement.is_reset:
            return
        remote_ip = "remote_ip" if len(spec.remote.ip) == 4 else "remote_ipv6"
        self._config.see(
            {
                "local_qpn": movement.qpn,
                "remote_qpn": spec.remote_qpn,
                "sq_psn": spec.sq_psn,
                "rq_psn": spec.rq_psn,
                "remote_mac": int.from_bytes(spec.remote.mac),
                remote_ip: int.from_bytes(spec.remote.ip),
                "udp_sport": spec.udp_sport,
                "traffic_class": spec.traffic_class,
                "hop_limit": spec.hop_limit,
                "ip_id": spec.ip_id,
                "ack_timeout": spec.ack_timeout,
                "retry_count": spec.retry_count,
                "rnr_retry": spec.rnr_retry,
                "min_rnr_timer": spec.min_rnr_timer,
            }
        )
        self.add("config.path_mtu", service, spec.path_mtu)
        self.add("config.ecn", service, _ECN[spec.traffic_class & 3])
        self.add("config.sq_psn", service, self._start_psns.of(spec.sq_psn))
        if service == "RC":
            self.add("config.ack_timeout", spec.ack_timeout)
            self.add("config.retry_count", spec.retry_count)
            self.add("config.rnr_retry", spec.rnr_retry)

    def posted(self, movement: Posted, qp: QueuePair | None) -> None:
        work = movement.work
        values = {"wr_id": work.wr_id, "qpn": movement.qpn, "length": work.size}
        if work.op.name.startswith(("WRITE", "READ")):
            values |= {"remote_addr": work.remote_addr, "rkey": work.rkey}
        if work.op.name.endswith("_IMM"):
            values["immediate"] = work.immediate
        self._work.see(values)

    def completed(self, movement: Completed, qp: QueuePair | None) -> None:
        if movement.is_receive:
            return
        values = {"wr_id": movement.wr_id, "qpn": movement.qpn}
        if movement.syndrome is not None:
            values["syndrome"] = movement.syndrome
        self._completion.see(values)
        if qp is not None:
            self.add("completion.status", qp.service, movement.status)

    def finish(self) -> None:
        port = _Bits(self.life, "port.bits")
        host = self.life.host
        port.see({"mac": int.from_bytes(host.mac), "ip": int.from_bytes(host.ip)})
        for bits in (self._config, self._work, self._completion, port):
            bits.finish()
