# SPDX-License-Identifier: BSD-2-Clause
"""Excerpts under sanitizers: of any bytes, and the same each time."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from captures import pcap_header, pcap_record

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import extreme_captures

FRAME_BYTES = 32
RUN_SECONDS = 60


def excerpt(build: Path, path: Path, limits: str = "0,20,4,8") -> bytes:
    command = [str(build / "checked" / "roce-check"), "--excerpt", limits, str(path)]
    done = subprocess.run(command, capture_output=True, timeout=RUN_SECONDS)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.mark.parametrize("kind", extreme_captures.KINDS, ids=lambda kind: kind.__name__)
def test_any_capture_has_an_excerpt_even_with_bytes_changed_and_cut(
    build: Path, tmp_path: Path, kind
) -> None:
    order = random.Random(7)
    count = 12 if kind is extreme_captures.jumbo else 500
    data = bytearray(pcap_header())
    for _, frame in kind(count):
        changed = bytearray(frame)
        if order.random() < 0.3:
            changed[order.randrange(min(len(frame), 60))] = order.randrange(256)
        kept = changed[: order.choice((None, None, None, order.randrange(len(changed))))]
        data += pcap_record(bytes(kept))
    path = tmp_path / "changed.pcap"
    path.write_bytes(data[:-5])
    first = excerpt(build, path)
    assert first == excerpt(build, path)
    heading = json.loads(first.split(b"\n", 1)[0])
    assert "cut in a record" in heading["error"]
    assert heading["judged_wrong"] <= heading["wrong"] <= heading["roce"] <= heading["frames"]


def test_a_short_capture_is_its_own_excerpt(build: Path, tmp_path: Path) -> None:
    frames = [frame for _, frame in extreme_captures.all_wrong(50)]
    path = tmp_path / "short.pcap"
    path.write_bytes(pcap_header() + b"".join(map(pcap_record, frames)))
    heading, _, rest = excerpt(build, path, "50,20,4,8").partition(b"\n")
    assert json.loads(heading) == {
        "frames": 50,
        "roce": 50,
        "wrong": 50,
        "judged": 50,
        "judged_wrong": 50,
        "stretches": [[1, 50]],
        "cut": False,
        "error": None,
    }
    assert len(rest) == sum(FRAME_BYTES + len(frame) for frame in frames)
