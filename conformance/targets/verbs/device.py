# SPDX-License-Identifier: BSD-2-Clause
"""A device in a real kernel: the wire to it and the verbs agent beside it.

When either goes away the device has died, and whoever asks for something is told so,
with the last frame that was sent to it and its console's last lines. Whatever else
goes wrong is the bench's failure.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from roceproof.conformance.targets.interface import DeviceDied, Patience, Refused, TargetError
from roceproof.conformance.targets.verbs.device_address import Address
from roceproof.conformance.targets.verbs.live_link import Wire
from roceproof.conformance.targets.verbs.ports import PortGone
from roceproof.conformance.wire import neighbours
from roceproof.conformance.wire.icmp import IPV4_BYTES
from roceproof.rxe_env.client.verbs import Verbs
from roceproof.rxe_env.errors import AgentError, PeerDied
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec

CALL_SECONDS = 5.0
FREE_SECONDS = 60.0  # Linux 6.12 needs seconds for a queue pair at work, and many on a busy host


class VerbsDevice:
    """It outlives the cases that it serves.

    `addresses` begin with the one that cases use unless they ask for another. `tester` is
    a host that no case plays: it asks whether the device is still there.
    """

    def __init__(
        self,
        name: str,
        verbs: Verbs,
        wire: Wire,
        *,
        addresses: Sequence[Address],
        tester: Host,
        patience: Patience,
        last_words: Callable[[], str],
        close: Callable[[], None],
        held_up_ns: Callable[[], int] = lambda: 0,
    ) -> None:
        self.name = name
        self.wire = wire
        self.host = addresses[0].host
        self.patience = patience
        self.has_died = False
        self.hop_limits: dict[bytes, int] = {}  # by remote IP, once they have been found out
        self.close = close
        self.held_up_ns = held_up_ns
        self._verbs = verbs
        self._addresses = addresses
        self._tester = tester
        self._last_words = last_words

    def call(self, op: str, *, within: float = CALL_SECONDS, **fields: Any) -> dict[str, Any]:
        """Run one operation of the agent's protocol."""
        with self.told():
            return self._verbs.call(op, within=within, **fields)

    def clear(self) -> None:
        """Free everything that the agent holds and let the wire run empty."""
        self.call("reset", within=FREE_SECONDS)
        self.run_empty()
        lost = self.wire.restart()
        if lost:
            raise TargetError(f"{lost} frames were lost between {self.name} and the suite: rerun")

    def run_empty(self, is_stale: Callable[[bytes], bool] = lambda frame: True) -> None:
        """Drop what has arrived and what is under way, as far as it is stale.

        Frames keep their order, so behind the device's answer nothing older comes.
        """
        self.fence()
        with self.told():
            self.wire.discard(is_stale)

    def fence(self) -> None:
        """Wait until the device answers a question that comes behind all that it was sent."""
        with self.told():
            self.wire.play(self._tester)
            question = neighbours.solicit(self._tester, self.host.ip)
            if not self.wire.ask(question, self.is_own_mac, timeout_ns=self.patience.answer_ns):
                raise PortGone("it no longer answers ARP")

    def is_own_mac(self, frame: bytes) -> bool:
        """Whether the frame answers who has the device's IP."""
        return neighbours.is_advertised(frame, self.host.ip)

    def address_for(self, spec: QpSpec) -> Address:
        """The device's address that such a queue pair uses: of its IP version and VLAN."""
        for address in self._addresses:
            if (len(address.host.ip), address.vlan) == (len(spec.remote.ip), spec.vlan):
                return address
        version = "IPv4" if len(spec.remote.ip) == IPV4_BYTES else "IPv6"
        tag = "no VLAN" if spec.vlan is None else f"VLAN tag {spec.vlan:#06x}"
        raise TargetError(f"{self.name} has no RoCEv2 address for {version} and {tag}")

    @contextmanager
    def told(self) -> Iterator[None]:
        """Whatever goes wrong inside is told in the words of targets."""
        try:
            yield
        except AgentError as error:
            raise Refused(f"{self.name} refused {error}") from error
        except PeerDied as error:
            raise self._death(error.reason) from error
        except PortGone as error:
            raise self._death(str(error)) from error

    def _death(self, reason: str) -> DeviceDied:
        self.has_died = True
        last = self.wire.last_sent.hex() or "none"
        words = self._last_words()
        console = f"\nlast console lines:\n{words}" if words else ""
        return DeviceDied(f"{self.name} died: {reason}; the last frame sent to it: {last}{console}")
