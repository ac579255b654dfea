# SPDX-License-Identifier: BSD-2-Clause
"""How a case fails: with the rules that the device has broken, and the packets that show it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from roceproof.common.errors import RoceproofError
from roceproof.conformance.suite.header_displacement import DISPLACING
from roceproof.conformance.suite.notation import Mismatch
from roceproof.conformance.suite.reporting.failure_site import Stop
from roceproof.conformance.suite.reporting.transcript import Entry

if TYPE_CHECKING:
    from scapy.plist import PacketList


class Incomplete(RoceproofError):
    """A packet lacks what nothing else can supply; the text names it."""


class CaseFailed(AssertionError):
    """The device did otherwise than its case says. `rules` are those that the text names, `stop`
    where the case stopped if that is what every case takes for granted.

    `got` and `wanted` are Scapy packets, made when somebody looks: `wrpcap(path, failure.got)`.
    """

    def __init__(
        self,
        text: str,
        *,
        rules: Iterable[str] = (),
        entries: Iterable[Entry] = (),
        example: Callable[[], bytes | None] | None = None,
        stop: Stop | None = None,
    ) -> None:
        super().__init__(text)
        self.rules = tuple(dict.fromkeys(rules))
        self.entries = tuple(entries)
        self.example = example
        self.stop = stop

    def retold(
        self, text: str, *, rules: Iterable[str] = (), entries: Iterable[Entry] = ()
    ) -> CaseFailed:
        """The same failure in other words, with these rules, if any, and more frames."""
        return CaseFailed(
            text,
            rules=tuple(rules) or self.rules,
            entries=(*self.entries, *entries),
            example=self.example,
            stop=self.stop,
        )

    @property
    def got(self) -> PacketList:
        """The frames of the device that are not as they should be, with their times."""
        from roceproof.conformance.suite.reporting.sniffing import packets_of

        return packets_of(self.entries, name="got")

    @property
    def wanted(self) -> PacketList:
        """A frame as it should have been, where one was expected."""
        from roceproof.conformance.suite.reporting.sniffing import packets_of

        time_ns = self.entries[0].time_ns if self.entries else 0
        frame = self.example() if self.example else None
        entries = [] if frame is None else [Entry(time_ns, True, frame)]
        return packets_of(entries, name="wanted")

    def shown(self) -> str:
        """What came, in the words of `packet.show()`."""
        return "\n".join(f"got, at {p.time:.9f} s:\n{p.show(dump=True)}" for p in self.got)


AS_CONTRACTED = "LIVE-02"
"""Of what the contract says, and no other rule."""
FIELD_RULES = {
    "opcode": "OPC-01",
    "psn": "PSN-02",
    "se": "BTH-02",
    "tver": "BTH-04",
    "pkey": "BTH-06",
    "fecn": "BTH-08",
    "becn": "BTH-08",
    "resv6": "BTH-08",
    "resv7": "PSN-19",
    "qpn": "BTH-10",
    "pad": "PAD-01",
    "va": "RETH-04",
    "rkey": "RETH-04",
    "dmalen": "RETH-02",
    "swap": "ATOM-01",
    "compare": "ATOM-01",
    "imm": "IMM-02",
    "a": "ACK-02",
    "payload": "RETH-13",
    "src_ip": "IP-08",
    "dst_ip": "IP-08",
    "src_mac": "ETH-05",
    "dst_mac": "ETH-05",
    "tos": "IP-07",
    "ttl": "IP-06",
    "ident": AS_CONTRACTED,
    "sport": "UDP-04",
    "qkey": "UD-01",
    "src_qpn": "UD-01",
    "vlan": "VLAN-02",
    "ip_length": "IP-02",
    "udp_length": "UDP-02",
    "frame pad": "ETH-02",
    "arp padding": "ETH-02",
    "ip_checksum": "IP-05",
    "udp_checksum": "UDP-03",
    "pad bytes": "PAD-02",
    "icrc": "ICRC-02",
    "trailer": "ETH-04",
    "surplus reth": "RETH-03",
    "missing reth": "RETH-01",
    "surplus immediate": "IMM-03",
    "missing immediate": "IMM-01",
    "surplus aeth": "AETH-01",
    "missing aeth": "AETH-01",
}
"""The rule that a wrong field of a predicted request breaks, whatever the case is about."""
_LENGTH = "MTU-03"
_GRH_LACKS = (20, 40)
"""Bytes of the GRH that may be left out in front of a datagram: those without IPv4, or all."""
OF_EVERY_PACKET = frozenset({"tos", "ttl", "tver", "pkey", "fecn", "becn", "resv6", "resv7"})
"""Fields that are the same in all packets of a queue pair, each for a reason of its own."""
_NO_MUST = frozenset({"pad bytes", "trailer"})
NO_PACKET = "a frame that is no RoCE packet"
STRAY = "a packet to a QPN that nobody has"
STRAY_COMPLETION = "a completion of a QPN that has no such work"
STRAY_RECEIVE = "a receive has completed for a QPN that it was not given to"
_DECIDES_WHAT_FOLLOWS = frozenset({"opcode", "psn", "pad", "qpn", *DISPLACING})


def rule_of(wrong: Mismatch) -> str | None:
    """The rule that the field breaks; a payload of another length is not one of other bytes."""
    return wrong.rule or (_LENGTH if _is_length(wrong) else FIELD_RULES.get(wrong.field))


def rules_of_receive(
    field: str,
    want: object,
    got: object,
    own: Collection[str],
    *,
    takes_key: bool = False,
    is_datagram: bool = False,
) -> list[str]:
    """Those that a wrong field of a receive's completion breaks in a case of these rules.

    `takes_key` says that the message names a key to take back, which is no data.
    """
    by = want - got if isinstance(want, int) and isinstance(got, int) else 0
    if field == "invalidated" or (takes_key and (field == "immediate" or by == -4)):
        return ["INV-01"]
    if field == "immediate":
        return ["IMM-02"]
    if field == "src_qpn":
        return [FIELD_RULES[field]]
    if field == "solicited":
        return [AS_CONTRACTED]
    if field != "byte_len" or not isinstance(want, int):
        return []
    if got == want + -want % 4:
        return ["PAD-03"]
    if is_datagram and by in _GRH_LACKS:
        return ["GID-03"]
    return ["IMM-04" if "IMM-04" in own else AS_CONTRACTED]


def is_aside(wrong: Mismatch, own: Collection[str]) -> bool:
    """Whether no rule of the case is about a field that is the same in all packets, or no must.

    Such a wrong field is told at the end of the case, which meanwhile goes on.
    """
    return wrong.field in OF_EVERY_PACKET | _NO_MUST and rule_of(wrong) not in own


def is_harmless(wrong: Mismatch) -> bool:
    """Whether what comes behind a packet with this wrong field means what it would mean anyway."""
    return wrong.field not in _DECIDES_WHAT_FOLLOWS and not _is_length(wrong)


def _is_length(wrong: Mismatch) -> bool:
    sizes = wrong.want.partition("[")[0], wrong.got.partition("[")[0]
    return wrong.field == "payload" and sizes[0] != sizes[1]
