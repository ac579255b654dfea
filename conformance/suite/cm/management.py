# SPDX-License-Identifier: BSD-2-Clause
"""A peer of the device's QP1, for either side of connection management."""

from collections.abc import Sequence
from typing import Any

from roceproof.conformance.model.cm.messages import MAD_BYTES, Attribute, CmMessage, Reason
from roceproof.conformance.model.ingress import GSI_QKEY, GSI_QPN
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.pattern import UD_SEND_ONLY
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service

SERVICE_ID = 0x0000_0000_0106_4791
"""In the port space of TCP, as the RDMA IP CM numbers services."""


class ManagementEnd:
    """A host's QP1, against the device's."""

    def __init__(self, bench: Bench, peer: Host) -> None:
        self.bench = bench
        self.peer = peer
        self.device = bench.target.host_for(self.spec(Service.UD, 0))
        gsi = self.spec(Service.UD, GSI_QPN, qkey=GSI_QKEY, path_mtu=MAD_BYTES)
        self.management = self.watch(Qp(GSI_QPN, gsi))
        self._psn = 0
        self._heard: list[CmMessage] = []

    def spec(self, service: Service, qpn: int, **fields: Any) -> QpSpec:
        """A queue pair of the device whose other end is here."""
        return QpSpec(service=service, remote=self.peer, remote_qpn=qpn, **fields)

    def watch(self, qp: Qp) -> Connection:
        """A queue pair whose packets concern the case from now on."""
        connection = Connection(self.bench, qp)
        self.bench.add(connection)
        return connection

    def accepted(self, qpn: int, spec: QpSpec) -> Connection:
        """The queue pair that both ends have agreed on, which the device may tell of, too."""
        try:
            return self.known(self.bench.target.accepted(qpn, spec))
        except AssertionError as error:
            raise self.bench.failed(str(error), rules=["CM-05"]) from None

    def known(self, qp: Qp) -> Connection:
        """Packets of a queue pair concern the case and are named by it from now on."""
        self.bench.transcript.know(qp, self.device)
        return self.watch(qp)

    def send(self, message: CmMessage | bytes, **fields: int) -> None:
        mad = message if isinstance(message, bytes) else message.pack()
        self.management.send(UD_SEND_ONLY(psn=self._psn, payload=mad, **fields))
        self._psn += 1

    def hear(self, *expected: Attribute, within_ns: int | None = None) -> CmMessage:
        """The next message of the device, which is one of these.

        One that says again what was heard, since its answer may be lost, or only asks for time may
        come before it.
        """
        packet, message = self._next(within_ns)
        while (
            message is not None
            and message.attribute not in expected
            and (message.attribute is Attribute.MRA or message in self._heard)
        ):
            packet, message = self._next(within_ns)
        if message is not None:
            self._heard.append(message)
        if message is None or message.attribute not in expected:
            names = " or ".join(one.name for one in expected)
            if any(known.attribute in expected for known in self._heard):
                names += ", which came once before"
            raise self.bench.failed(f"want  {names}\ngot   {_told(packet, message)}")
        return message

    def require(
        self, came: CmMessage, of: str = "", rules: Sequence[str] = (), /, **want: int
    ) -> None:
        """Fails with each field of a message that is not as wanted; `of` is what that is called."""
        wrong = [
            f"{name} of {of or came.attribute.name}: want {value:#x}, got {came[name]:#x}"
            for name, value in want.items()
            if came[name] != value
        ]
        if wrong:
            raise self.bench.failed("; ".join(wrong), rules=rules)

    def _next(self, within_ns: int | None) -> tuple[Packet | None, CmMessage | None]:
        packet = self.management.next(timeout_ns=within_ns)
        return packet, None if packet is None else CmMessage.unpack(packet.payload)

    def ask(self, message: CmMessage, *expected: Attribute) -> CmMessage:
        """Send a message; the answer is one of these."""
        self.send(message)
        answer = self.hear(*expected)
        if answer.transaction != message.transaction:
            raise self.bench.failed("the answer has another transaction id", rules=["CM-03"])
        return answer

    def find(self, message: CmMessage, expected: Attribute) -> CmMessage:
        """Send a message; its answer comes, among whatever else the device has still to say."""
        self.send(message)
        while (packet := self.management.next()) is not None:
            answer = CmMessage.unpack(packet.payload)
            said = answer and (answer.attribute, answer.transaction)
            if answer is not None and said == (expected, message.transaction):
                return answer
        raise self.bench.failed(f"want  {expected.name}\ngot   none")


def _told(packet: Packet | None, message: CmMessage | None) -> str:
    if packet is None:
        return "nothing"
    if message is None:
        return "no message of connection management"
    name = message.attribute.name
    return (
        f"{name} for {_reason(message['reason'])}" if message.attribute is Attribute.REJ else name
    )


def _reason(said: int) -> str:
    return f"reason {said}, {Reason(said).name}" if said in [*Reason] else f"reason {said}"
