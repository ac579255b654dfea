# SPDX-License-Identifier: BSD-2-Clause
"""What both sides of connection management hold: connections, and what is said until answered."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from roceproof.conformance.model.cm.messages import Attribute, CmMessage
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec

RESPONSE_CODE = 6
RESPONSE_NS = 4096 << RESPONSE_CODE
MAX_RETRIES = 15
_MAPPED = bytes(10) + b"\xff\xff"


@dataclass(slots=True)
class Connection:
    """One that a REQ has asked for; its own id is that of REP, or of REQ where the device asks."""

    request: CmMessage
    reply: CmMessage | None
    queue_pair: QueuePair
    peer: Host
    is_ours: bool = False
    is_closed: bool = False

    @property
    def transaction(self) -> int:
        """The number that REQ, REP and RTU share."""
        return self.request.transaction

    @property
    def their_id(self) -> int | None:
        """The communication id of the other end, once it is known."""
        theirs = self.reply if self.is_ours else self.request
        return None if theirs is None else theirs["local_id"]


@dataclass(slots=True)
class Repeat:
    """A message that is said again, word for word, until it is answered."""

    message: CmMessage
    peer: Host
    due_ns: int = 0
    left: int = MAX_RETRIES + 1


class Connections:
    """All of a device's, by its own communication ids."""

    def __init__(
        self,
        addresses: Collection[bytes],
        open_queue_pair: Callable[[QpSpec], QueuePair],
        reset_queue_pair: Callable[[int, QpSpec], QueuePair],
    ) -> None:
        self._addresses = addresses
        self._open = open_queue_pair
        self._reset = reset_queue_pair
        self._connections: dict[int, Connection] = {}
        self._repeats: dict[int, Repeat] = {}
        self._ids = iter(range(1, 1 << 32))

    def named(self, message: CmMessage) -> Connection | None:
        """The connection whose two communication ids the message names."""
        connection = self._connections.get(message["remote_id"])
        if connection is None or connection.their_id != message["local_id"]:
            return None
        return connection

    def hang_up(self, qpn: int) -> None:
        """End the connection of a queue pair: DREQ until DREP."""
        own_id, connection = next(
            (own, each)
            for own, each in self._connections.items()
            if each.queue_pair.spec.local_qpn == qpn
        )
        connection.is_closed = True
        connection.queue_pair.fail()
        fields = {
            "local_id": own_id,
            "remote_id": connection.their_id or 0,
            "qpn": connection.queue_pair.spec.remote_qpn,
        }
        goodbye = CmMessage(Attribute.DREQ, ~connection.transaction & (1 << 64) - 1, fields)
        self._repeats[own_id] = Repeat(goodbye, connection.peer)

    def ended(self, message: CmMessage) -> CmMessage | None:
        """DREQ: the queue pair is dead from now on, and its number is not given to another."""
        connection = self.named(message)
        if connection is None or connection.queue_pair.spec.local_qpn != message["qpn"]:
            return None
        if not connection.is_closed:
            connection.is_closed = True
            connection.queue_pair.fail()
        ids = {"local_id": message["remote_id"], "remote_id": message["local_id"]}
        return CmMessage(Attribute.DREP, message.transaction, ids)

    def answered(self, message: CmMessage) -> None:
        """What was said until now needs not be said again."""
        repeat = self._repeats.get(message["remote_id"])
        if repeat is not None and repeat.message.transaction == message.transaction:
            del self._repeats[message["remote_id"]]

    def due(self, now_ns: int) -> list[Repeat]:
        """What is to be said now; a connection that is never answered fails."""
        found = []
        for own_id, repeat in list(self._repeats.items()):
            if repeat.due_ns > now_ns:
                continue
            if not repeat.left:
                del self._repeats[own_id]
                self._connections[own_id].queue_pair.fail()
                continue
            repeat.due_ns, repeat.left = now_ns + RESPONSE_NS, repeat.left - 1
            found.append(repeat)
        return found

    def next_deadline(self) -> int | None:
        """When something is due next."""
        return min((repeat.due_ns for repeat in self._repeats.values()), default=None)


def address_of(gid: int) -> bytes:
    data = gid.to_bytes(16, "big")
    return data[12:] if data.startswith(_MAPPED) else data


def gid_of(address: bytes) -> int:
    return int.from_bytes(address if len(address) == 16 else _MAPPED + address, "big")
