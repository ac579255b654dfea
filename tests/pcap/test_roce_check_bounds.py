# SPDX-License-Identifier: BSD-2-Clause
"""The memory of roce-check stays bounded, and what lies beyond the bounds is counted."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from captures import pcap_header

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))

from healthy_capture import SEND, Sender, ack, frames_of, with_bth
from roce_check import Checked, RoceCheck

from roceproof.conformance.wire.codec import build as built
from roceproof.conformance.wire.headers import Reth

MOST_KILOBYTES = 200 << 10
FLOWS = 1 << 16
RUN_SECONDS = 60
# In between, since a child begins with the memory that its parent had at most.
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def check(build: Path, tmp_path_factory: pytest.TempPathFactory) -> RoceCheck:
    return RoceCheck(build / "roce-check", tmp_path_factory.mktemp("bounds"))


def measured(check: RoceCheck, frames: Iterator[bytes]) -> tuple[Checked, int]:
    """What the tool says, printing few findings, and the kilobytes that it took at most."""
    path = check.folder / "large.pcap"
    with path.open("wb") as file:
        file.write(pcap_header())
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
    command = [sys.executable, "-c", MEASURE, str(check.tool), "--max", "9", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS)
    return Checked(done.returncode, done.stdout, ""), int(done.stderr)


def renumbered(frame: bytes, *, qpn: int, psn: int = 0) -> bytes:
    """The frame with other numbers, and an ICRC that is wrong for them."""
    return frame[:47] + qpn.to_bytes(3, "big") + frame[50:51] + psn.to_bytes(3, "big") + frame[54:]


@pytest.mark.slow
def test_flows_beyond_the_bound_are_judged_by_themselves_and_counted(check: RoceCheck) -> None:
    request = frames_of(Sender().message(SEND, 4))[0]
    count = FLOWS + 20_000
    checked, kilobytes = measured(check, (renumbered(request, qpn=i) for i in range(count)))
    assert checked.summary["icrc"]["bad"] == checked.summary["rules"]["ICRC-02"] == count
    assert checked.summary["untracked"] == count - FLOWS
    assert kilobytes < MOST_KILOBYTES


def long_reads(senders: int) -> Iterator[bytes]:
    """READs of 2 GiB, of which one response comes near the start, and one near the end."""
    for number in range(senders):
        sender = Sender(qpn=number + 2, psn=0)
        yield from frames_of(sender.message(SEND, 600))
        psn = sender.psn
        yield built(with_bth(ack(psn - 1, 1), dest_qpn=number + 0x8000))
        yield built(sender.packet(0x0C, b"", Reth(0x1000, 0xABCD, 0x7FFFFFFF)))
        middle = replace(ack(psn, 1, opcode=0x0E), extensions=(), payload=bytes(256))
        for at in (1, 8_000_000):
            yield built(with_bth(middle, psn=psn + at, dest_qpn=number + 0x8000))


def test_long_reads_take_no_more_memory_than_there_is_for_them(check: RoceCheck) -> None:
    checked, kilobytes = measured(check, long_reads(200))
    assert checked.summary["untracked"] > 0
    assert kilobytes < MOST_KILOBYTES


def test_gaps_take_no_more_memory_than_there_is_for_them(check: RoceCheck) -> None:
    request = frames_of(Sender().message(SEND, 4))[0]
    psns = range(0, 17 * 60_000, 60_000)
    frames = (renumbered(request, qpn=i, psn=psn) for i in range(2000) for psn in psns)
    checked, kilobytes = measured(check, frames)
    assert checked.summary["rules"]["PSN-02"] > 10_000
    assert checked.summary["untracked"] > 0
    assert kilobytes < MOST_KILOBYTES


@pytest.mark.parametrize(("flows", "paired"), [(256, True), (257, False)])
def test_a_response_is_paired_among_256_flows_at_the_most(
    check: RoceCheck, flows: int, *, paired: bool
) -> None:
    asked = [Sender(psn=1000 * i, qpn=i + 16).message(SEND, 4)[0] for i in range(flows)]
    answers = [ack(0, 1), ack(0, 9), ack(1, 9)]
    checked = check.frames(frames_of([*asked, *answers]))
    ahead = [rule for _, rule, _ in checked.places if rule == "ACK-06"]
    assert bool(ahead) is paired
