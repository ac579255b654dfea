# SPDX-License-Identifier: BSD-2-Clause
"""Networks in virtual time, and what is counted in them: the words of dpi/event_model/world.h."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

GBPS = 1_000_000_000
US = 1_000_000
MS = 1000 * US
SECOND = 1000 * MS
"""In picoseconds."""
FOREVER = 3600 * SECOND
"""Of a network that ends by itself."""
ENDLESS = 1 << 40
"""Messages, where the network's end decides."""


@dataclass(frozen=True, kw_only=True)
class Port:
    """One end of a cable. Rates in bits a second, times in picoseconds, the rest in bytes."""

    rate: int
    delay: int = 0
    buffer: int = 0
    xoff: int = 0
    xon: int = 0
    loss: int = 0
    """Of 10^9 packets, as the next two."""
    swap: int = 0
    twice: int = 0
    pace: int = 0
    burst: int = 0
    stall_at: int = 0
    stall_for: int = 0


@dataclass(frozen=True, kw_only=True)
class Flow:
    """A queue pair with both its ends, or a TCP connection, over the ports that `path` numbers."""

    kind: str = "rc"
    path: tuple[int, ...]
    mtu: int
    size: int
    depth: int = 1
    messages: int = 1
    priority: int = 0
    immediate: bool = False
    start: int = 0
    back: int = 0
    timeout: int = 0
    retries: int = 7
    pace: int = 0
    pace_messages: bool = False
    warm: int = 0
    receives: int = 0
    stall_at: int = 0
    stall_for: int = 0


@dataclass(frozen=True, kw_only=True)
class Network:
    """Ports and flows, and how long to look at them."""

    ports: tuple[Port, ...]
    flows: tuple[Flow, ...]
    until: int
    seed: int = 1
    since: int = 0
    sample: int = 0

    def lines(self) -> str:
        """As the event model reads it."""
        run = {"seed": self.seed, "until": self.until, "sample": self.sample, "since": self.since}
        told = [_line("run", run)]
        told += [_line("port", asdict(port)) for port in self.ports]
        told += [_line("flow", asdict(flow)) for flow in self.flows]
        return "\n".join(told) + "\n"


KINDS = ("rc", "uc", "tcp")


def _line(what: str, words: Mapping[str, object]) -> str:
    return " ".join([what, *(f"{key}={_value(value)}" for key, value in words.items())])


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, str):
        return str(KINDS.index(value))
    return str(int(value))  # type: ignore[call-overload]


@dataclass(frozen=True)
class Played:
    """What became of a network: of each port and flow what was counted, by its name in world.h."""

    now: int
    ports: list[dict[str, int]] = field(default_factory=list)
    flows: list[dict[str, int]] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    """Payload bytes that all flows delivered in each."""

    def goodput(self, flow: int, plan: Flow) -> float:
        """Payload bits a second of a flow, from its first measured message on."""
        told = self.flows[flow]
        begin = told["warm_time"] if plan.warm else plan.start
        measured = told["done"] - plan.warm
        elapsed = (told["last_time"] if measured == plan.messages - plan.warm else self.now) - begin
        return 8 * measured * plan.size * SECOND / elapsed if measured > 0 and elapsed > 0 else 0.0

    def rate_since(self, flow: int, network: Network) -> float:
        """Payload bits a second that a flow delivered in the stretch that is counted apart."""
        return 8 * self.flows[flow]["delivered_since"] * SECOND / (network.until - network.since)
