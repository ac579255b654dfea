# SPDX-License-Identifier: BSD-2-Clause
"""A wire to a running kernel: frames as they come, on the wall's clock.

A thread reads the port, so that arrival times are those of the arrival and the
kernel's questions after the hosts that the suite plays are answered at once, also
while the verbs agent waits for just that answer. The host's own traffic is set aside and counted.
"""

import contextlib
import os
import select
import threading
import time
from collections import Counter, deque
from collections.abc import Callable

from roceproof.conformance.targets.interface import Arrival
from roceproof.conformance.targets.verbs.ports import Port, PortGone
from roceproof.conformance.wire import neighbours
from roceproof.conformance.wire.host_traffic import host_traffic
from roceproof.verbs.addresses import Host

KEPT_ASIDE = 64


class Wire:
    """A port with a reader. Everything that fails says so with PortGone."""

    def __init__(self, port: Port) -> None:
        self.last_sent = b""
        self.host_traffic: Counter[str] = Counter()
        self._port = port
        self._neighbours: dict[bytes, bytes] = {}
        self._played: frozenset[bytes] = frozenset()
        self._arrived: deque[Arrival] = deque()
        self._aside: deque[bytes] = deque(maxlen=KEPT_ASIDE)
        self._gone: str | None = None
        self._news = threading.Condition()
        self._sending = threading.Lock()
        self._start_ns = time.monotonic_ns()
        self._stop_read, self._stop_write = os.pipe()
        self._reader = threading.Thread(target=self._read, name="wire", daemon=True)
        self._reader.start()

    @property
    def now_ns(self) -> int:
        """Nanoseconds since `restart`."""
        return time.monotonic_ns() - self._start_ns

    def restart(self) -> int:
        """Forget what has arrived and begin the clock anew; how many frames the port lost."""
        with self._news:
            self._arrived.clear()
            self._aside.clear()
            self.host_traffic.clear()
            self._start_ns = time.monotonic_ns()
        return self._port.lost()

    def discard(self, is_stale: Callable[[bytes], bool] = lambda frame: True) -> None:
        """Forget what has arrived and is stale."""
        with self._news:
            kept = [arrival for arrival in self._arrived if not is_stale(arrival.frame)]
            self._arrived.clear()
            self._arrived.extend(kept)

    def play(self, host: Host) -> None:
        """Be this host from now on; a kernel that knew another MAC for it is told."""
        known = self._neighbours.get(host.ip)
        self._neighbours[host.ip] = host.mac
        self._played |= {host.mac}
        self._port.accept(host.mac)
        if known not in (None, host.mac):
            self._send(neighbours.announce(host))

    def send(self, frame: bytes) -> None:
        self.last_sent = frame
        self._send(frame)

    def receive(self, timeout_ns: int) -> Arrival | None:
        """The next frame that is not the host's own, or None when time is over."""
        with self._news:
            self._news.wait_for(lambda: self._arrived or self._gone, timeout_ns / 1e9)
            if self._arrived:
                return self._arrived.popleft()
            self._check()
            return None

    def wait(self, duration_ns: int) -> None:
        """Let time pass, unless the port goes away meanwhile."""
        with self._news:
            self._news.wait_for(lambda: self._gone, duration_ns / 1e9)
            self._check()

    def ask(self, frame: bytes, is_answer: Callable[[bytes], bool], *, timeout_ns: int) -> bool:
        """Send a frame and wait for the host's own traffic that answers it.

        Once it is there, so is all that the kernel sent before.
        """
        deadline = time.monotonic() + timeout_ns / 1e9
        with self._news:
            self._aside.clear()
        self._send(frame)
        with self._news:
            while not self._gone:
                while self._aside:
                    if is_answer(self._aside.popleft()):
                        return True
                if not self._news.wait(max(0.0, deadline - time.monotonic())):
                    return False
            self._check()
            return False

    def close(self) -> None:
        """End the reader and close the port."""
        os.write(self._stop_write, b"x")
        self._reader.join()
        os.close(self._stop_read)
        os.close(self._stop_write)
        self._port.close()

    def _check(self) -> None:
        if self._gone:
            raise PortGone(self._gone)

    def _send(self, frame: bytes) -> None:
        with self._sending:
            self._port.send(frame)

    def _read(self) -> None:
        reason = "its wire is no longer read"
        try:
            port = self._port.fileno()
            while self._stop_read not in select.select([port, self._stop_read], [], [])[0]:
                for frame in self._port.take():
                    self._sort(frame, time.monotonic_ns())
        except PortGone as error:
            reason = str(error)
        finally:
            with self._news:
                self._gone = reason
                self._news.notify_all()

    def _sort(self, frame: bytes, at_ns: int) -> None:
        name = host_traffic(frame, self._played)
        with self._news:
            if name is None:
                self._arrived.append(Arrival(at_ns - self._start_ns, frame))
            else:
                self.host_traffic[name] += 1
                self._aside.append(frame)
            self._news.notify_all()
        reply = neighbours.answer(frame, self._neighbours) if name else None
        if reply:
            with contextlib.suppress(PortGone):  # whoever sends or receives next will notice
                self._send(reply)
