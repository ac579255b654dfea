# SPDX-License-Identifier: BSD-2-Clause
"""What loss between two Soft-RoCE hosts does to work that brings data back.

python -m roceproof.conformance.interop.stock.losses [--kernel NAME] [--works 2]
    [--lost 2] [-o FOLDER]

Two machines, and of ours nothing but the cable between them. The client posts a short list of
work at once, and of the frames that a first attempt takes some are lost: all lists, all
combinations. It then looks at what its work completed with, and whether the bytes that came are
those that are there.
"""

import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from select import select
from threading import Thread
from typing import Any, NamedTuple, Self

import click

from roceproof.common.arguments import COUNT, OUTPUT_FOLDER, WORD
from roceproof.common.outcome import end_as
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.interop.stock.cable import Loss, Wire
from roceproof.conformance.interop.stock.scenarios import CLIENT, SERVER
from roceproof.rxe_env.client.verbs import MemoryRegion, QueuePair
from roceproof.rxe_env.peer import SoftRoce
from roceproof.rxe_env.vm import vm_backend
from roceproof.rxe_env.vm.vm_backend import VmBackend

MTU = 256
SLOT, UNTOUCHED = 1024, 0xEE
ANY_OPCODE = tuple(range(256))
TIMEOUT_CODE = 13  # 34 ms
COMPLETE_SECONDS = 5.0
PSNS_APART = 64


class Kind(NamedTuple):
    """An operation of the agent, how many bytes it moves, and how many frames answer it."""

    opcode: str
    size: int
    responses: int = 1


KINDS = {
    "write": Kind("write", 8),
    "read": Kind("read", 8),
    "long read": Kind("read", 600, 3),
    "fetch_add": Kind("fetch_add", 8),
    "cmp_swap": Kind("cmp_swap", 8),
}


@dataclass(frozen=True)
class Trial:
    """A list of work, and the frames that are lost: which way, counted from the first."""

    works: tuple[str, ...]
    lost: tuple[tuple[str, int], ...]

    @property
    def losses(self) -> list[Loss]:
        """As the cable takes them."""
        return [Loss(towards, ANY_OPCODE, nth, recorded=True) for towards, nth in self.lost]

    def __str__(self) -> str:
        lost = [f"frame {nth} to the {towards}" for towards, nth in self.lost]
        return f"{', '.join(self.works)}; lost: {', '.join(lost) or 'nothing'}"


def trials(*, works: int, lost: int) -> Iterator[Trial]:
    """Every list of so many works, with up to so many losses."""
    for names in product(KINDS, repeat=works):
        responses = sum(KINDS[name].responses for name in names)
        frames = [(SERVER, nth + 1) for nth in range(works)]
        frames += [(CLIENT, nth + 1) for nth in range(responses)]
        for number in range(lost + 1):
            for chosen in combinations(frames, number):
                yield Trial(names, chosen)


class Cable:
    """Carries frames between two machines in a thread of its own until it is closed."""

    def __init__(self, ports: dict[str, socket.socket]) -> None:
        self.wire = Wire(ports)
        self._end, self._told = socket.socketpair()
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        names = {port: name for name, port in self.wire.ports.items()}
        while True:
            for ready in select([*names, self._told], [], [])[0]:
                if ready is self._told or not self.wire.carry(names[ready]):
                    return

    def close(self) -> None:
        self._end.close()
        self._thread.join()
        self._told.close()


class Pair:
    """Client, server, and the cable."""

    def __init__(self, hosts: dict[str, SoftRoce], wire: Wire, cleanup: ExitStack) -> None:
        self.kernel = hosts[CLIENT].kernel
        self.wire = wire
        self._client, self._server = hosts[CLIENT], hosts[SERVER]
        self._cleanup = cleanup
        self._psn = 0

    @classmethod
    def start(cls, kernel: str | None = None) -> Self:
        """Restore both machines, which boot the first time."""
        with ExitStack() as stack:
            hosts, ports = {}, {}
            for number, name in enumerate((SERVER, CLIENT), 1):
                machine = vm_backend.machine(_progress, kernel=kernel, host=number)
                hosts[name] = SoftRoce(VmBackend(machine, _progress))
                stack.callback(hosts[name].close)
                ports[name] = stack.enter_context(socket.socket(socket.AF_UNIX))
                ports[name].connect(hosts[name].link.partition(":")[2])
            cable = Cable(ports)
            stack.callback(cable.close)
            return cls(hosts, cable.wire, stack.pop_all())

    def run(self, trial: Trial) -> list[str]:
        """Play it; what is wrong, in words."""
        near, far = self._memory(trial.works)
        qp = self._connected()
        self.wire.restart(trial.losses)
        wrs = [_request(name, place, near, far) for place, name in enumerate(trial.works)]
        self._client.call("post_send", qp=qp.handle, wrs=wrs)
        told = self._client.poll(qp, count=len(wrs), wait=COMPLETE_SECONDS)
        statuses = {completion.wr_id: completion.status for completion in told}
        return [
            f"work {place + 1}, {name}, {wrong}"
            for place, name in enumerate(trial.works)
            for wrong in self._wrong(name, place, statuses.get(place), near, far)
        ]

    def _memory(self, works: Sequence[str]) -> tuple[MemoryRegion, MemoryRegion]:
        """A slot for each work on both sides, fresh."""
        for host in (self._client, self._server):
            host.reset()
        near = self._client.reg_mr(SLOT * len(works), fill=UNTOUCHED)
        far = self._server.reg_mr(SLOT * len(works))
        for place, name in enumerate(works):
            self._server.write(far, _found(name, place), offset=place * SLOT)
            if name == "write":
                self._client.write(near, _written(place), offset=place * SLOT)
        return near, far

    def _connected(self) -> QueuePair:
        self._psn += PSNS_APART
        ends = {host: host.open_qp("RC") for host in (self._client, self._server)}
        for host, other in ((self._client, self._server), (self._server, self._client)):
            host.connect(
                ends[host],
                remote_ipv4=other.ipv4,
                remote_qpn=ends[other].qpn,
                path_mtu=MTU,
                rq_psn=self._psn,
                sq_psn=self._psn,
                rts={"timeout": TIMEOUT_CODE},
            )
        return ends[self._client]

    def _wrong(
        self, name: str, place: int, status: str | None, near: MemoryRegion, far: MemoryRegion
    ) -> Iterator[str]:
        at = place * SLOT
        if status != "success":
            yield f"ended with {status or 'nothing'}"
            return
        due = _written(place) if name == "write" else _found(name, place)
        came = self._client.read(near, offset=at, length=len(due))
        if came != due:
            first = next(at for at in range(len(due)) if came[at] != due[at])
            shown = slice(first, first + 8)
            yield f"succeeded and left {came[shown].hex()} where {due[shown].hex()} is due"
        kept = self._server.read(far, offset=at, length=8)
        if kept != _kept(name, place):
            yield f"succeeded, and {kept.hex()} is in the server's memory"

    def close(self) -> None:
        self._cleanup.close()


def _found(name: str, place: int) -> bytes:
    return bytes([place + 1]) * KINDS[name].size


def _written(place: int) -> bytes:
    return bytes([0xA0 + place]) * KINDS["write"].size


def _kept(name: str, place: int) -> bytes:
    """What the server has there behind the work, done once."""
    if name == "write":
        return _written(place)
    number = int.from_bytes(_found(name, place)[:8], "little")
    return {"fetch_add": number + 1, "cmp_swap": 0}.get(name, number).to_bytes(8, "little")


def _request(name: str, place: int, near: MemoryRegion, far: MemoryRegion) -> dict[str, Any]:
    opcode, size, _ = KINDS[name]
    number = int.from_bytes(_found(name, place)[:8], "little")
    operands = {"fetch_add": {"add": 1}, "cmp_swap": {"compare": number, "swap": 0}}
    return {
        "wr_id": place,
        "opcode": opcode,
        "raddr": far.addr + place * SLOT,
        "rkey": far.rkey,
        "sge": [{"mr": near.handle, "offset": place * SLOT, "length": size}],
        **operands.get(name, {}),
    }


def _progress(text: str) -> None:
    print(text, file=sys.stderr)


@click.command(help=__doc__)
@click.option("--kernel", type=WORD)
@click.option("--works", type=COUNT, default=2, show_default=True)
@click.option("--lost", type=COUNT, default=2, show_default=True)
@click.option("-o", "--output", type=OUTPUT_FOLDER, help="For captures of what is wrong.")
def main(kernel: str | None, works: int, lost: int, output: Path | None) -> None:
    """Try all; 1 if anything came out wrong, 2 if that cannot be tried here."""
    tried, wrong = 0, 0
    if output:
        output.mkdir(parents=True, exist_ok=True)
    with closing(Pair.start(kernel)) as pair:
        for tried, trial in enumerate(trials(works=works, lost=lost), 1):
            if found := pair.run(trial):
                wrong += 1
                print("\n    ".join([str(trial), *found]), flush=True)
                if output:
                    path = output / f"loss-{tried}.pcapng"
                    write_pcapng(path, pair.wire.records, comment=f"{pair.kernel}: {trial}")
        print(f"Linux {pair.kernel}: {wrong} of {tried} end wrong")
    sys.exit(int(wrong > 0))


if __name__ == "__main__":
    end_as(main)
