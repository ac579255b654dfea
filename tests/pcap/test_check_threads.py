# SPDX-License-Identifier: BSD-2-Clause
"""roce-check in several threads: the same lines in the same order, whatever the capture."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from captures import pcap_header, pcap_record
from roce_check import RoceCheck
from test_roce_check_bounds import long_reads

from roceproof.conformance.faults.conversation.traffic import Conversation

ROOT = Path(__file__).resolve().parents[2]
VECTORS = json.loads((ROOT / "conformance" / "vectors" / "icrc.json").read_text())
RUN_SECONDS = 60


@pytest.fixture(scope="module")
def capture() -> bytes:
    """Some thousand packets, of which some were lost and one in four has a flipped bit."""
    rng = random.Random(0x7EAD)
    data = pcap_header(magic=0xA1B23C4D)
    talk = Conversation(seed=5, loss=0.02, unseen_loss=0.02, connections=24, messages=(60, 30))
    for timed in talk.capture().frames:
        frame = bytearray(timed.frame)
        if rng.random() < 1 / 4:
            frame[rng.randrange(14, len(frame))] ^= 1 << rng.randrange(8)
        data += pcap_record(bytes(frame), time=divmod(timed.time_ns, 10**9))
    return data


def check(
    build: Path,
    threads: int,
    path: Path | str,
    data: bytes | None = None,
    *,
    folder: str = "checked",
) -> bytes:
    command = [str(build / folder / "roce-check"), "--max", "0", "-j", str(threads), str(path)]
    done = subprocess.run(command, input=data, capture_output=True, timeout=RUN_SECONDS)
    assert done.stderr == b""
    return b"%d\n" % done.returncode + done.stdout


@pytest.mark.parametrize("cut", [0, 7], ids=["whole", "cut"])
def test_any_number_of_threads_prints_the_same_lines(
    build: Path, capture: bytes, tmp_path: Path, cut: int
) -> None:
    path = tmp_path / "capture.pcap"
    path.write_bytes(capture[: len(capture) - cut])
    alone = check(build, 1, path)
    assert alone.startswith(b"2\n" if cut else b"1\n")
    assert alone.count(b'"finding"') > 1000
    for threads in (2, 3, 9):
        assert check(build, threads, path) == alone
        assert check(build, threads, "-", path.read_bytes()) == alone


def mixed(connections: int, seed: int) -> bytes:
    """Connections that CM sets up and that begin again, CNPs, UD, marks."""
    talk = Conversation(
        seed=seed, reconnects=2, ce_rate=0.2, unseen_loss=0.05, connections=connections
    )
    frames = [timed.frame for timed in talk.capture().frames]
    return pcap_header() + b"".join(map(pcap_record, frames))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_concerns_several_judges_is_judged_in_capture_order(
    build: Path, tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "mixed.pcap"
    path.write_bytes(mixed(40, seed))
    alone = check(build, 1, path)
    for threads in (2, 5):
        assert check(build, threads, path) == alone


def test_a_broken_packet_of_a_flow_that_has_not_begun_has_no_flow(
    build: Path, tmp_path: Path
) -> None:
    talk = Conversation(seed=1, connections=6).capture()
    frames = []
    for timed in talk.frames:
        broken = bytearray(timed.frame)
        broken[17] ^= 4  # in the IPv4 length
        frames += [bytes(broken), timed.frame]
    tool = RoceCheck(build / "checked" / "roce-check", tmp_path)
    alone = tool.frames(frames, "-j", "1", "--max", "0", facts=talk.facts).text
    for threads in ("2", "5"):
        assert tool.frames(frames, "-j", threads, "--max", "0", facts=talk.facts).text == alone


def test_more_flows_than_there_is_memory_for_give_the_same_lines(
    build: Path, tmp_path: Path
) -> None:
    path = tmp_path / "reads.pcap"
    with path.open("wb") as file:
        file.write(pcap_header())
        for frame in long_reads(60):
            file.write(pcap_record(frame))
    alone = check(build, 1, path, folder=".")
    assert b'"untracked":0' not in alone
    assert check(build, 3, path, folder=".") == alone


@pytest.mark.slow  # for what it builds
def test_no_two_threads_touch_the_same_at_once(
    build: Path, threads_watched: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mixed.pcap"
    path.write_bytes(mixed(16, 4))
    alone = check(build, 1, path)
    for threads in (2, 4):
        assert check(build, threads, path, folder=threads_watched.name) == alone


def test_a_file_cut_under_the_reader_ends_the_check_with_a_text(
    build: Path, tmp_path: Path
) -> None:
    path = tmp_path / "capture.pcap"
    broken = bytes.fromhex(VECTORS[0]["frame"])[:-1] + b"?"
    path.write_bytes(pcap_header() + pcap_record(broken) * 10_000)
    command = [str(build / "roce-check"), "--max", "0", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.read(1)  # it has begun, and has more to print than the pipe takes
        os.truncate(path, 5000)
        running.stdout.read()
        text = running.stderr.read()
        assert running.wait(RUN_SECONDS) == 2
    assert text == b"the file was cut short while it was being read\n"
