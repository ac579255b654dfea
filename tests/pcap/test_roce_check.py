# SPDX-License-Identifier: BSD-2-Clause
"""roce-check as a tool: exit codes, options, facts, damaged and hostile captures."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from roce_check import RoceCheck

from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import locate

SEED = 0x0BAC1E
MUTATIONS = 1000
A_CAPTURE = 25
FINDING = {"type", "rule", "severity", "frame", "flow", "expected", "got"}
ROW: dict[str, Any] = {
    "service": "RC",
    "address": "10.0.0.1",
    "qpn": 17,
    "remote_address": "10.0.0.2",
    "remote_qpn": 34,
}


@pytest.fixture(scope="module")
def check(build: Path, tmp_path_factory: pytest.TempPathFactory) -> RoceCheck:
    return RoceCheck(build / "checked" / "roce-check", tmp_path_factory.mktemp("check"))


@pytest.fixture(scope="module")
def healthy() -> list[bytes]:
    return [timed.frame for timed in Conversation(seed=3).frames()]


def corrupted(frames: list[bytes], count: int) -> list[bytes]:
    """That many frames with a wrong ICRC in front."""
    return [frame[:-1] + bytes([frame[-1] ^ 1]) for frame in frames[:count]] + frames[count:]


def test_exit_code_tells_clean_from_broken_from_unreadable(
    check: RoceCheck, healthy: list[bytes]
) -> None:
    assert check.frames(healthy).code == 0
    assert check.frames(corrupted(healthy, 1)).code == 1
    missing = check.file(check.folder / "missing.pcap")
    assert (missing.code, missing.text) == (2, "")
    assert "missing.pcap: " in missing.errors


def test_information_alone_is_no_failure(check: RoceCheck) -> None:
    frames = Conversation(lengths=(0,), tagged=(False,)).frames()
    layouts = [(timed.frame, locate(timed.frame)) for timed in frames]
    short = next(frame[: at.end] for frame, at in layouts if at is not None and at.end < 60)
    checked = check.frames([short])
    assert checked.places == [(1, "ETH-02", "info")]
    assert checked.code == 0


@pytest.mark.parametrize(
    "options",
    [(), ("--max", "x"), ("--max", "-1"), ("-j", "0"), ("-j", "two"), ("--unknown",), ("a", "b")],
    ids=" ".join,
)
def test_wrong_usage_prints_how_to_use_it(check: RoceCheck, options: tuple[str, ...]) -> None:
    checked = check.file(Path("-"), *options) if options else check.file(Path("-"), "-i", "lo")
    assert (checked.code, checked.text) == (2, "")
    assert "usage: roce-check " in checked.errors


def test_max_bounds_the_findings_printed_and_not_those_counted(
    check: RoceCheck, healthy: list[bytes]
) -> None:
    frames = corrupted(healthy, 50)
    everything = check.frames(frames, "--max", "0")
    assert len(everything.places) > 50
    few = check.frames(frames, "--max", "3")
    assert few.lines[:3] == everything.lines[:3]
    assert len(few.places) == 3
    assert few.summary == everything.summary


def test_every_line_is_one_object_with_the_promised_keys(
    check: RoceCheck, healthy: list[bytes]
) -> None:
    checked = check.frames(corrupted(healthy, 20))
    *others, summary = checked.lines
    kinds = [line["type"] for line in others]
    assert kinds == sorted(kinds)  # findings, then flows
    flows = kinds.count("flow")
    for line in others[:-flows]:
        assert set(line) == FINDING
        assert line["rule"] in RULES
        assert line["flow"] in (None, *range(flows))
    assert summary["frames"] == summary["roce_frames"] == len(healthy)
    assert sum(summary["rules"].values()) == len(checked.places)
    assert summary["error"] is None


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"service": "XRC"}, '"service" must be "RC", "UC" or "UD"'),
        ({"address": "10.0.0"}, '"address" must be an IPv4 or IPv6 address'),
        ({"remote_address": None}, '"remote_address" must be an IPv4 or IPv6 address'),
        ({"qpn": 1 << 24}, '"qpn" must be a number in its range'),
        ({"qpn": "17"}, '"qpn" must be a number in its range'),
        ({"start_psn": -1}, '"start_psn" must be a number in its range'),
        ({"ttl": 256}, '"ttl" must be a number in its range'),
        ({"credits": 1}, '"credits" must be true or false'),
    ],
    ids=str,
)
def test_a_wrong_fact_is_named(
    check: RoceCheck, healthy: list[bytes], change: dict[str, Any], wanted: str
) -> None:
    checked = check.frames(healthy, facts={"schema": 1, "qps": [ROW, ROW | change]})
    assert (checked.code, checked.text) == (2, "")
    assert checked.errors.endswith(f"qps.json: qps[1]: {wanted}\n")


@pytest.mark.parametrize("missing", ["qpn", "remote_qpn"])
def test_a_missing_fact_is_named(check: RoceCheck, healthy: list[bytes], missing: str) -> None:
    row = {name: value for name, value in ROW.items() if name != missing}
    checked = check.frames(healthy, facts={"schema": 1, "qps": [row]})
    assert checked.errors.endswith(f'qps[0]: "{missing}" must be given\n')


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": 2, "qps": []}', '{"schema": 1}'])
def test_facts_that_are_none_are_refused(check: RoceCheck, healthy: list[bytes], text: str) -> None:
    checked = check.frames(healthy, *check.qps(text))
    assert (checked.code, checked.text) == (2, "")
    assert "qps.json: " in checked.errors


def test_facts_that_cannot_be_read_are_named(check: RoceCheck, healthy: list[bytes]) -> None:
    checked = check.frames(healthy, "--qps", str(check.folder / "nothing.json"))
    assert checked.code == 2
    assert "nothing.json" in checked.errors


def test_a_damaged_capture_is_judged_up_to_the_damage(
    check: RoceCheck, healthy: list[bytes]
) -> None:
    whole = check.frames(corrupted(healthy, 5))
    path = check.folder / "torn.pcap"
    path.write_bytes((check.folder / "capture.pcap").read_bytes()[:-7])
    torn = check.file(path)
    assert torn.code == 2
    assert torn.summary["frames"] == len(healthy) - 1
    assert torn.places == whole.places
    assert torn.summary["error"]


@pytest.mark.parametrize("content", [b"", b"\0" * 24, b"GIF89a" + bytes(100)], ids=len)
def test_what_is_no_capture_is_refused(check: RoceCheck, content: bytes) -> None:
    path = check.folder / "other"
    path.write_bytes(content)
    checked = check.file(path)
    assert (checked.code, checked.text) == (2, "")
    assert f"{path}: " in checked.errors


def mutated(rng: random.Random, frame: bytes) -> bytes:
    """One change to a frame, often with an ICRC that vouches for it."""
    bent = bytearray(frame)
    at = rng.randrange(12, min(len(bent), 110))
    match rng.randrange(5):
        case 0:
            bent[at] ^= 1 << rng.randrange(8)
        case 1:
            bent[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
        case 2:
            bent[at : at + 4] = rng.randbytes(4)
        case 3:
            return bytes(bent[: rng.randrange(len(bent))])
        case 4:
            bent[at:at] = rng.randbytes(rng.randrange(1, 9))
    layout = locate(bytes(bent))
    sound = layout is not None and layout.fault is None
    return icrc.reseal(bytes(bent)) if sound and rng.random() < 0.8 else bytes(bent)


def test_no_mutation_ends_in_a_crash_or_in_a_line_that_is_no_json(check: RoceCheck) -> None:
    print(f"seed {SEED:#x}")
    for number in range(MUTATIONS // A_CAPTURE):
        rng = random.Random(SEED + number)
        frames, facts = Conversation(seed=number, connections=5, messages=(12, 8)).capture()
        bent = [timed.frame for timed in frames]
        for _ in range(A_CAPTURE):
            at = rng.randrange(len(bent))
            bent[at] = mutated(rng, bent[at]) if len(bent[at]) > 60 else bent[at]
        checked = check.frames(bent, "--max", "0", facts=facts if number % 2 else None)
        assert (checked.code, checked.errors) == (1, "")
        assert checked.summary["frames"] == len(bent)
