# SPDX-License-Identifier: BSD-2-Clause
"""Mutated conversations through a real tshark with the Wireshark plugin.

Whatever is captured, tshark ends well, the plugin raises no Lua error, and its verdict on an ICRC
is that of Python. Captures are those of their seeds; one that fails is kept.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

from make_corpus import FRAME_BYTES, STORED, as_v1

from roceproof.common.exit_codes import Exit
from roceproof.common.paths import REPOSITORY
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import ICRC_BYTES, locate, locate_v1

PLUGIN = REPOSITORY / "pcap" / "wireshark" / "roceproof.lua"
FRAMES = 1000
"""Of a capture, before some are left out or come again."""
TSHARK_SECONDS = 120
RPC_GUESS = "rpcrdma_infiniband"  # a dissector of tshark that fails an assertion on short SENDs
NUMBERS = (0, 1, 0x7F, 0x80, 0xFE, 0xFF)
DISTURBED: tuple[dict[str, Any], ...] = (
    {},
    {"loss": 0.2},
    {"rnr_rate": 0.3},
    {"reconnects": 3},
    {"ce_rate": 0.5},
)
COMMENTS = (
    "roceproof: ICRC-02 must: expected one, found another\nroceproof: BTH-03 info: changed",
    "roceproof: PSN-02 never: %s %d %%",
    "roceproof: AA-1 should: \x01\ufffd\u2028|,\nroceproof: : :",
    "roceproof: " * 40,
)


def main() -> int:
    """Exit code 1 where a capture fails, which is told and kept."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--captures", type=int, default=2, help="at most")
    arguments.add_argument("--seconds", type=float, default=float("inf"), help="begin none later")
    arguments.add_argument("--plugin", type=Path, default=PLUGIN)
    arguments.add_argument("--keep", type=Path, default=Path(), help="folder for what fails")
    wanted = arguments.parse_args()
    end, frames = time.monotonic() + wanted.seconds, 0
    for seed in islice(count(wanted.seed), wanted.captures):
        records = mutated(Random(seed))
        path = wanted.keep / f"plugin-crash-{seed}.pcapng"
        write_pcapng(path, records)
        for passes in ((), ("-2",)):
            if failed := failure(path, records, wanted.plugin, *passes):
                print(f"seed {seed}: {failed}; {path} repeats it", file=sys.stderr)
                return Exit.FINDINGS
        path.unlink()
        frames += len(records)
        if time.monotonic() >= end:
            break
    print(f"Done {frames} frames of {seed - wanted.seed + 1} captures")
    return Exit.FINE


def failure(path: Path, records: list[Record], plugin: Path, *passes: str) -> str:
    """What goes wrong first; nothing if all is well."""
    words = ["tshark", "-n", "-X", f"lua_script:{plugin}", "--disable-heuristic", RPC_GUESS]
    words += ["-r", str(path), *passes, "-T", "fields", "-E", "separator=|"]
    words += [word for name in ("roceproof.icrc", "_ws.lua.error") for word in ("-e", name)]
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=TSHARK_SECONDS,
            env={"PATH": os.environ["PATH"], "HOME": home},
        )
    if done.returncode != 0 or "Lua" in done.stderr:
        return f"tshark ends with {done.returncode}: {done.stderr.strip()[-300:]}"
    rows = [line.split("|", 1) for line in done.stdout.splitlines()]
    if len(rows) != len(records):
        return f"{len(rows)} of {len(records)} frames are shown"
    for number, (record, (verdict, error)) in enumerate(zip(records, rows, strict=True), start=1):
        if error:
            return f"frame {number}: a Lua error, which tshark -V shows"
        if not record.bytes_cut and verdict not in (allowed := verdicts(record.frame)):
            return f"frame {number}: ICRC {verdict!r}, and none of {allowed}"
    return ""


def verdicts(frame: bytes) -> tuple[str, ...]:
    """What the plugin may say of a whole frame."""
    layout = locate(frame) or locate_v1(frame)
    if layout is None or layout.fault is not None:
        return ("", "unchecked")
    end = layout.end
    return ("ok" if frame[end - ICRC_BYTES : end] == icrc.compute_at(frame, layout) else "bad",)


def mutated(rng: Random) -> list[Record]:
    """A capture of several conversations, with frames changed, cut, lost, repeated and moved."""
    frames: list[bytes] = []
    while len(frames) < FRAMES:
        talk = Conversation(
            seed=rng.randrange(1 << 30),
            connections=rng.randint(1, 3),
            lengths=(0, 1, 37, 256, 700),
            path_mtus=(256,),
            **rng.choice(DISTURBED),
        )
        frames += [timed.frame for timed in islice(talk.capture().frames, FRAMES // 4)]
    stored = rng.choice(sorted(STORED.glob("*.pcapng.gz")))
    frames += [record.frame for record in islice(read(stored), FRAMES // 10)]
    changed = []
    for frame in frames:
        if rng.random() < 0.3:
            frame = changed_frame(rng, frame)
        changed += [frame] * rng.choice((0, 1, 1, 1, 1, 1, 1, 1, 1, 2))
    for _ in range(len(changed) // 10):
        at = rng.randrange(len(changed))
        changed.insert(min(at + rng.randrange(20), len(changed)), changed.pop(at))
    return [recorded(rng, number, frame) for number, frame in enumerate(changed)]


def recorded(rng: Random, number: int, frame: bytes) -> Record:
    kept = rng.randrange(len(frame) + 1) if rng.random() < 0.03 else len(frame)
    return Record(
        interface=rng.choice(("port", "port", "other")),
        time_ns=number * 1000,
        flow=rng.choice([*Flow]),
        frame=frame[:kept],
        comment=rng.choice(COMMENTS) if rng.random() < 0.05 else "",
        bytes_cut=len(frame) - kept,
    )


def changed_frame(rng: Random, frame: bytes) -> bytes:
    """By one to three changes, and in half of the cases with the ICRC of what came of that."""
    for _ in range(rng.randint(1, 3)):
        frame = rng.choice(CHANGES)(rng, frame)
    if rng.random() < 0.5 and icrc.check(frame).judgement is icrc.Judgement.BAD:
        frame = icrc.reseal(frame)
    return frame


def other_byte(rng: Random, frame: bytes) -> bytes:
    """One behind the addresses, mostly of a header."""
    if len(frame) <= 12:
        return frame
    at = rng.randrange(12, min(len(frame), rng.choice((20, 60, 80, len(frame) + 1))))
    return frame[:at] + bytes([rng.choice((*NUMBERS, rng.randrange(256)))]) + frame[at + 1 :]


def other_field(rng: Random, frame: bytes) -> bytes:
    """Opcode, QPN, PSN or what follows the BTH, if there is one."""
    layout = locate(frame)
    if layout is None:
        return frame
    at, size = rng.choice(((0, 1), (5, 3), (9, 3), (12, 4), (24, 4)))
    at += layout.udp + 8
    value = bytes([rng.choice(NUMBERS)] * size) if rng.random() < 0.5 else rng.randbytes(size)
    return (frame[:at] + value + frame[at + size :])[: len(frame)]


def other_size(rng: Random, frame: bytes) -> bytes:
    """Cut, mostly amid its headers, or with bytes behind it."""
    if rng.random() < 0.7:
        return frame[: rng.randrange(min(len(frame), rng.choice((40, 80, len(frame)))) + 1)]
    return frame + bytes(rng.randrange(FRAME_BYTES))


def tagged(rng: Random, frame: bytes) -> bytes:
    """With one tag of a VLAN or many."""
    tag = rng.choice((b"\x81\0", b"\x88\xa8", b"\x91\0")) + rng.randbytes(2)
    return frame[:12] + tag * rng.choice((1, 2, 9)) + frame[12:]


def other_version(_: Random, frame: bytes) -> bytes:
    """Of RoCEv1."""
    return as_v1(frame)


CHANGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    other_byte,
    other_field,
    other_field,
    other_size,
    tagged,
    other_version,
)


if __name__ == "__main__":
    sys.exit(main())
