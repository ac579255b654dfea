# SPDX-License-Identifier: BSD-2-Clause
"""The plugin says the same under the Lua of newer Wiresharks as in the tshark that is here."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.capture.reader import read as read_capture

from .wireshark_traffic import PLUGIN, ack, capture, corrupted, fields, read, send

API = Path(__file__).parent / "wireshark_api.lua"
STOCK = REPOSITORY / "tests" / "captures" / "rxe" / "compare_swap_lost.pcapng.gz"
NAMES = ("icrc", "icrc.computed", "psn.relative", "message", "finding")
LUA_SECONDS = 60

pytestmark = [
    pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed"),
    pytest.mark.skipif(shutil.which("lua5.4") is None, reason="lua5.4 is not installed"),
]


def in_lua(frames: list[bytes], *mode: str) -> list[list[str]]:
    done = subprocess.run(
        ["lua5.4", str(API), str(PLUGIN), *mode],
        input="".join(f"{frame.hex()}\n" for frame in frames),
        capture_output=True,
        text=True,
        timeout=LUA_SECONDS,
        check=True,
    )
    rows = []
    for line in done.stdout.splitlines():
        shown = dict(word.split("=", 1) for word in line.split(" ") if word.startswith("roceproof"))
        rows.append([shown.get(f"roceproof.{name}", "") for name in NAMES])
    return rows


def test_lua_5_4_gives_the_fields_that_tshark_gives(tmp_path: Path) -> None:
    vectors = json.loads((REPOSITORY / "conformance/vectors/icrc.json").read_text())
    frames = [bytes.fromhex(vector["frame"]) for vector in vectors]
    frames += [corrupted(frame) for frame in frames]
    frames += [send(psn) for psn in (0xFFFFFE, 0xFFFFFF, 0, 3, 4)] + [ack(0), ack(4)]
    frames += [read(5, 600), send(9), send(0x800000)]
    frames += [record.frame for record in read_capture(STOCK)]
    path = capture(tmp_path / "x.pcapng", frames)
    one_pass = [[cell.split(",")[0] for cell in row] for row in fields(path, *NAMES, home=tmp_path)]
    assert [row[:4] for row in in_lua(frames)] == [row[:4] for row in one_pass]
    assert [bool(row[4]) for row in in_lua(frames)] == [bool(row[4]) for row in one_pass]


def test_frames_visited_again_backwards_show_what_two_passes_show(tmp_path: Path) -> None:
    frames = [send(0), send(3), corrupted(send(4)), send(1), send(2), send(9), read(10, 64), ack(4)]
    path = capture(tmp_path / "x.pcapng", frames)
    two_passes = fields(path, *NAMES, home=tmp_path, options=["-2"])
    assert in_lua(frames, "again") == two_passes
    assert [row[4] for row in two_passes] == ["", "", "ICRC-02", "", "", "PSN-02", "", ""]


def test_frames_first_seen_out_of_turn_have_a_verdict_and_no_place_in_a_flow() -> None:
    rows = in_lua([send(0), corrupted(send(7))], "late")
    assert [[row[0], *row[2:]] for row in rows] == [["ok", "", "", ""], ["bad", "", "", "ICRC-02"]]
