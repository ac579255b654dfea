# SPDX-License-Identifier: BSD-2-Clause
"""XGMII as a device's wire: what its MAC does wrong has a name, and what the bench sends is right.

The device, in xgmii_dut, is the reference endpoint behind a MAC that does one thing wrong if told
to. It checks the bench's side by itself, and ends the simulation where that is wrong.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from faulty_device import suite

from roceproof.conformance.wire.icmp import icmp_frame
from roceproof.conformance.wire.mac_control import LONGEST, priority_pause
from roceproof.conformance.wire.neighbours import solicit
from roceproof.dpi import (
    Flow,
    ManifestError,
    Operation,
    PortOptions,
    QpConfig,
    Service,
    Simulation,
    SimulationError,
    WorkRequest,
    load_manifest,
)
from roceproof.verbs.addresses import Host, parse_mac

pytestmark = pytest.mark.sim

DUT = Path(__file__).parent / "xgmii_dut" / "dut.toml"
MANIFEST = load_manifest(DUT)
OWN, PEER = (
    Host(mac=parse_mac(f"02:00:00:00:00:0{last}"), ip=bytes([192, 168, 1, last])) for last in (1, 2)
)
LENGTHS = [1, 5, 9, 14, 300, 1024]
LATE = 3000
ECHO_REQUEST, PINGS = 8, 20
FAULTS = {
    "fcs": "xgmii fcs: of a frame of",
    "preamble": "xgmii preamble: byte 6 behind the start is d5",
    "delimiter": "xgmii preamble: byte 7 behind the start is 55",
    "lane": "xgmii start lane: a frame starts in lane",
    "gap": "xgmii gap: ",
    "rounding": "behind 12 on average",
    "runt": "xgmii runt: 44 bytes with FCS, at least 64",
    "data": "xgmii control: data byte 00 between frames",
    "ordered": "xgmii control: character 9c between frames",
    "long": "xgmii length: no end behind 9220 bytes",
    "control": "xgmii control: character 9c in a frame",
    "endless": "xgmii control: character 07 in a frame",
}


def start(log: Path, fault: str = "", *, flow: Flow | None = None) -> Simulation:
    port = PortOptions(mac="02:00:00:00:00:01", ipv4="192.168.1.1", flow=flow or Flow())
    plusargs = [f"mac_fault={fault}"] if fault else []
    return Simulation.start(MANIFEST, data_width=64, ports=[port], plusargs=plusargs, log=log)


def write(simulation: Simulation, lengths: list[int]) -> None:
    """On one queue pair, one after the other."""
    port = simulation.port(0)
    simulation.run(cycles=200)
    port.configure(QpConfig(local_qpn=2, service=Service.UC))
    for number, length in enumerate(lengths):
        request = WorkRequest(wr_id=number, qpn=2, operation=Operation.WRITE, length=length)
        port.post(request, payload=bytes(length))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[64]", "[64, 128]", "wire: XGMII has 64 bits; write data_widths = [64]"),
        ('"xgmii"\n\n', '"gmii"\n\n', "wire: 'gmii' is none of stream, xgmii"),
    ],
)
def test_a_wire_that_there_is_not_is_named(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = DUT.read_text()
    assert text.count(old) == 1
    text = re.sub("sources = .*", 'sources = ["a.sv"]', text.replace(old, new))
    (tmp_path / "a.sv").touch()
    (tmp_path / "dut.toml").write_text(text)
    with pytest.raises(ManifestError, match=re.escape(words)):
        load_manifest(tmp_path / "dut.toml")


@pytest.mark.parametrize(("fault", "words"), FAULTS.items())
def test_what_a_mac_may_not_do_ends_the_simulation_by_name(
    fault: str, words: str, tmp_path: Path
) -> None:
    with start(tmp_path / "log", fault) as simulation:
        write(simulation, LENGTHS * 4)
        with pytest.raises(SimulationError, match=re.escape(words)):
            simulation.run(cycles=LATE)


def test_frames_come_whole_and_one_with_an_error_character_not_at_all(tmp_path: Path) -> None:
    for fault, expected in (("", LENGTHS), ("error", [])):
        with start(tmp_path / "log", fault) as simulation:
            write(simulation, LENGTHS)
            simulation.run(cycles=LATE)
            sizes = [len(frame.data) for frame in simulation.port(0).take_frames()]
            assert sizes == [14 + 20 + 8 + 12 + 16 + -(-size // 4) * 4 + 4 for size in expected]
            assert len(simulation.port(0).take_completions()) == len(LENGTHS)


def test_a_pause_holds_the_next_frame_and_a_deaf_mac_goes_on(tmp_path: Path) -> None:
    for fault, expected in (("", 0), ("deaf", len(LENGTHS))):
        with start(tmp_path / "log", fault) as simulation:
            simulation.port(0).inject(priority_pause({0: LONGEST}, src_mac=PEER.mac))
            write(simulation, LENGTHS)
            simulation.run(cycles=LATE)
            assert len(simulation.port(0).take_frames()) == expected


@pytest.mark.parametrize("rx_gap", [0, 50])
def test_the_bench_begins_in_both_lanes_with_short_gaps_and_damages_in_two_ways(
    rx_gap: int, tmp_path: Path
) -> None:
    question = solicit(PEER, OWN.ip)
    log = tmp_path / "log"
    with start(log, flow=Flow(rx_gap=rx_gap)) as simulation:
        simulation.run(cycles=200)
        for extra in range(40):
            simulation.port(0).inject(question + bytes(extra), discard=extra % 8 == 0)
        simulation.run(cycles=LATE)
        assert simulation.port(0).take_frames()
        for _ in range(4):
            simulation.port(0).inject(question, discard=True)
        simulation.run(cycles=LATE)
        assert not simulation.port(0).take_frames()
    found = re.search(
        r"heard: (\d+) in lane 0, (\d+) in lane 4, (\d+) wrong FCS, (\d+) errors, "
        r"shortest gap (\d+)",
        log.read_text(),
    )
    assert found, log.read_text()
    lane_0, lane_4, wrong_fcs, errors, shortest = map(int, found.groups())
    assert lane_0 + lane_4 == 44
    assert min(lane_0, lane_4) > 8
    assert (wrong_fcs, errors) in [(4, 5), (5, 4)]
    assert shortest < 12 or rx_gap


def test_the_bench_changes_nothing_in_a_good_frame(tmp_path: Path) -> None:
    with start(tmp_path / "log") as simulation:
        simulation.run(cycles=200)
        for number in range(PINGS):
            simulation.port(0).inject(icmp_frame(PEER, OWN, ECHO_REQUEST, bytes([number] * 40)))
            simulation.run(cycles=LATE // 10)
        answers = simulation.port(0).take_frames()
    assert [answer.data[:6] for answer in answers] == [PEER.mac] * PINGS


def test_a_mac_that_believes_damaged_frames_answers_them(tmp_path: Path) -> None:
    with start(tmp_path / "log", "credulous") as simulation:
        simulation.run(cycles=200)
        simulation.port(0).inject(solicit(PEER, OWN.ip), discard=True)
        simulation.run(cycles=LATE)
        assert simulation.port(0).take_frames()


@pytest.mark.parametrize(
    ("fault", "cases", "code", "words"),
    [
        ("", "requester_pause", 0, 'failures="0" skipped="2" tests="18"'),
        ("deaf", "a_pause_stops_new_frames", 1, "PFC-01"),
        ("fcs", "requester_pause", 1, "xgmii fcs"),
        ("fcs", "frame_check_sequence", 1, '<property name="broken" value="LIVE-01 ETH-06"'),
        ("", "frame_check_sequence", 0, 'failures="0" skipped="0" tests="2"'),
        ("", "no_timer_runs_while", 0, 'failures="0" skipped="0" tests="2"'),
        pytest.param("", "", 0, 'failures="0"', marks=pytest.mark.slow),
    ],
)
def test_the_suite_runs_through_it(
    fault: str, cases: str, code: int, words: str, tmp_path: Path
) -> None:
    assert suite(DUT, f"mac_fault={fault}", cases, tmp_path) == code
    assert words in (tmp_path / "junit.xml").read_text()
