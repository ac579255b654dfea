# SPDX-License-Identifier: BSD-2-Clause
"""The ladder and diff commands as people and machines use them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from pcap_writer import write_pcap

from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.faults.icrc.catalogue import engine_of, sent_from
from roceproof.conformance.faults.icrc.engine import through
from roceproof.verbs.service import Service

CAPTURES = Path(__file__).parents[1] / "captures" / "rxe"
LOST = str(CAPTURES / "rc_lost_data.pcapng.gz")
GAP = str(CAPTURES / "uc_write_gap.pcapng.gz")
CLEAN, FINDINGS, USAGE = 0, 1, 2


def test_a_ladder_shows_messages_responses_and_repetitions(console) -> None:
    run = console.run("ladder", LOST)
    assert (run.returncode, run.stderr) == (CLEAN, "")
    assert "SEND FIRST psn+0 message 1" in run.stdout
    assert "◀─ ACK psn+4 msn=1" in run.stdout
    assert "(again)" in run.stdout


def test_a_ladder_can_be_cut_and_says_what_it_leaves_out(console) -> None:
    run = console.run("ladder", LOST, "--frames", "11-15")
    assert len(run.stdout.splitlines()) == 6
    run = console.run("ladder", LOST, "--max", "3")
    assert len(run.stdout.splitlines()) == 4
    assert "more packets are not drawn" in run.stderr


def test_findings_stand_in_the_ladder(console) -> None:
    assert "MUST PSN-18: expected" in console.run("ladder", GAP).stdout


def test_a_ladder_for_machines_names_flows_and_packets(console) -> None:
    document = json.loads(console.run("ladder", "--json", GAP).stdout)
    assert document["schema"] == 1
    marked = [row for row in document["packets"] if row["marks"]]
    assert [row["number"] for row in marked] == [25, 35]
    assert document["flows"][marked[0]["flow"]]["qpn"] == 0x28


def test_a_ladder_becomes_a_page(console, tmp_path) -> None:
    page = tmp_path / "ladder.html"
    run = console.run("ladder", GAP, "-o", str(page))
    assert (run.returncode, run.stdout, run.stderr) == (CLEAN, "", "")
    assert page.read_text().startswith("<!doctype html>")


def test_what_cannot_be_drawn_is_said_in_one_line(console, tmp_path) -> None:
    for arguments in (
        ("ladder", LOST, "--frames", "x"),
        ("ladder", LOST, "--frames", "90000-"),
        ("ladder", __file__),
        ("diff", LOST, __file__),
        ("ladder", str(tmp_path / "missing")),
    ):
        run = console.run(*arguments)
        assert run.returncode == USAGE, arguments
        assert run.stdout == ""
        assert "Traceback" not in run.stderr


def test_a_capture_does_not_differ_from_itself(console) -> None:
    run = console.run("diff", LOST, LOST)
    assert run.returncode == CLEAN
    assert run.stdout.endswith("no difference that matters\n")


def test_a_difference_that_matters_is_found_and_weighed(console) -> None:
    other = str(CAPTURES / "rc_wrap.pcapng.gz")
    run = console.run("diff", "--json", LOST, other)
    assert run.returncode == FINDINGS
    document = json.loads(run.stdout)
    found = {row["field"]: row for track in document["tracks"] for row in track["differences"]}
    assert found["message length"]["matters"]
    assert not found["IPv4 identification"]["matters"]
    quiet = console.run("diff", "-q", LOST, other)
    assert (quiet.returncode, quiet.stdout) == (FINDINGS, "")


def test_a_comparison_begins_with_its_conclusion_and_names_the_signature(console, tmp_path) -> None:
    talk = Conversation(seed=7, services=(Service.RC,), connections=1, ip_versions=(4,), ce_rate=0)
    healthy, faulty = tmp_path / "nic.pcap", tmp_path / "fpga.pcap"
    engine = engine_of(("S01",), variant=0, stalls=False)
    bad = through(engine, talk.frames(), sent_from(talk.stations[0].mac))
    write_pcap(healthy, talk.frames())
    write_pcap(faulty, bad)
    run = console.run("diff", str(faulty), str(healthy))
    told = "same but for: ICRC wrong in every packet of A, S01"
    assert (run.returncode, run.stdout.splitlines()[0]) == (FINDINGS, told)
    document = json.loads(console.run("diff", "--json", str(faulty), str(healthy)).stdout)
    assert document["conclusion"] == told
    (difference,) = [row for row in document["differences"] if row["matters"]]
    assert difference["field"] == "ICRC" and difference["packets"] == difference["of"]


def test_a_capture_that_ends_inside_a_packet_is_used_as_far_as_it_goes(console, tmp_path) -> None:
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(gzip.decompress(Path(LOST).read_bytes())[:-9])
    for arguments in (("ladder", str(cut)), ("diff", LOST, str(cut)), ("explain", str(cut))):
        run = console.run(*arguments)
        assert run.returncode == USAGE, arguments
        assert run.stdout
        assert "ends inside" in run.stderr
