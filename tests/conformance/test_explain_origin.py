# SPDX-License-Identifier: BSD-2-Clause
"""Changed bits: the link is blamed where there is one, and not in captures of simulated ports."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from explained import healthy, records

from roceproof import __version__
from roceproof.cli.explain import run_explain
from roceproof.conformance.capture.origin import Origin, common_origin
from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.diagnosis.icrc.wording import ON_THE_WAY
from roceproof.conformance.wire.framing import locate
from roceproof.dpi.session.options import PortOptions, SessionOptions

OURS = f"roceproof {__version__}\ndut reference, 64 bit, 1 port(s)\nseed 1"
THEIRS = "Linux 6.1.0\ndut is no word of ours here"


def flipped(frames: list[bytes]) -> tuple[list[bytes], int]:
    """One bit of one payload changed; the frame's number."""
    number, at = next(
        (number, layout.udp + 40)
        for number, frame in enumerate(frames, 1)
        if (layout := locate(frame)) is not None and layout.end - layout.udp > 200
    )
    frame = frames[number - 1]
    changed = frame[:at] + bytes([frame[at] ^ 4]) + frame[at + 1 :]
    return [*frames[: number - 1], changed, *frames[number:]], number


@pytest.fixture(scope="module")
def spoilt() -> tuple[list[Record], int]:
    frames, number = flipped(healthy(1))
    return records(frames), number


def capture(path: Path, seen: Iterable[Record], *, flow: Flow, comment: str) -> Path:
    write_pcapng(path, (record._replace(flow=flow) for record in seen), comment=comment)
    return path


@pytest.mark.parametrize(
    ("comment", "flow", "origin", "word"),
    [
        (OURS, Flow.OUTBOUND, Origin.SENT, "the device drove these bits"),
        (OURS, Flow.INBOUND, Origin.GIVEN, "A test bench spoils some on purpose"),
        (OURS, Flow.UNKNOWN, Origin.UNKNOWN, ON_THE_WAY),
        (THEIRS, Flow.OUTBOUND, Origin.UNKNOWN, ON_THE_WAY),
        ("", Flow.OUTBOUND, Origin.UNKNOWN, ON_THE_WAY),
    ],
    ids=["a simulated device", "what it was given", "no direction", "not ours", "no comment"],
)
def test_a_link_is_blamed_only_where_there_may_be_one(
    comment: str, flow: Flow, origin: Origin, word: str, spoilt, tmp_path: Path, capsys
) -> None:
    seen, number = spoilt
    path = capture(tmp_path / "x.pcapng", seen, flow=flow, comment=comment)
    assert common_origin(path, {number}) is origin
    assert run_explain((str(path),), as_json=False, qps=None, quiet=True, frames=3) == 1
    out = capsys.readouterr().out
    assert word in out
    assert (ON_THE_WAY in out) == (origin is Origin.UNKNOWN)
    assert ("changed after they were sent" in out) == (origin is Origin.UNKNOWN)


def test_frames_of_both_directions_have_no_common_origin(spoilt, tmp_path: Path) -> None:
    seen, number = spoilt
    mixed = [record._replace(flow=Flow(1 + record.number % 2)) for record in seen]
    write_pcapng(tmp_path / "x.pcapng", mixed, comment=OURS)
    assert common_origin(tmp_path / "x.pcapng", {number, number + 1}) is Origin.UNKNOWN


def test_the_bridge_says_of_its_captures_what_explain_reads() -> None:
    from roceproof.common.paths import REFERENCE_DUT
    from roceproof.dpi import load_manifest

    packed = SessionOptions().pack(load_manifest(REFERENCE_DUT), 64, [PortOptions()])
    assert f"roceproof {__version__}\ndut ".encode() in packed


def test_a_damaged_section_comment_costs_no_packet(spoilt, tmp_path: Path) -> None:
    seen, _ = spoilt
    path = capture(tmp_path / "x.pcapng", seen, flow=Flow.UNKNOWN, comment="abc")
    data = bytearray(path.read_bytes())
    data[26:28] = (200).to_bytes(2, "little")  # the comment's length, beyond its block
    path.write_bytes(data)
    found = list(read(path))
    assert (len(found), found[0].section) == (len(seen), "")
