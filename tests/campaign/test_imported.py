# SPDX-License-Identifier: BSD-2-Clause
"""Captures become entries that say what was asked, and healthy devices pass them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.cli.console.main import cli
from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.campaign.folder import Folder
from roceproof.conformance.campaign.imported import entries_of
from roceproof.conformance.campaign.worker import Part, play
from roceproof.conformance.capture.reader import read
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.stimulus.plan_text import text_of

CAPTURES = Path(__file__).parents[1] / "captures/rxe"


def texts(name: str) -> list[str]:
    return [text_of(plan) for plan in entries_of(read(CAPTURES / f"{name}.pcapng.gz")).plans]


def test_what_was_asked_is_asked_again(subtests: pytest.Subtests) -> None:
    said = {
        "fetch_add": [
            'play.request(key=0, op="FETCH_ADD", size=0, swap=',
            *('play.post(key=0, op="FETCH_ADD"', "max_rd_atomic=", "swap=", "play.respond("),
        ],
        "read": [
            *('play.request(key=0, op="READ", size=', 'play.post(key=0, op="READ", size='),
            "play.respond(key=0, packets=45)",
        ],
        "write": ['play.request(key=0, op="WRITE", size=', "rkey=0x"],
        "send_rnr": ["play.receive(key=0, size=", "syndrome=0x2c", "syndrome=0x60"],
        "nak_write": ["syndrome=0x6"],
        "uc_write_gap": ['service="UC"', "skip="],
    }
    for name, words in said.items():
        with subtests.test(name):
            text = "\n".join(texts(name))
            assert [word for word in words if word not in text] == []


def test_packets_out_of_their_place_are_asked_alone() -> None:
    assert any("play.raw(" in text for name in ("send_rnr", "rc_lost_data") for text in texts(name))


def test_datagrams_are_left_out() -> None:
    found = entries_of(read(CAPTURES / "send_ud.pcapng.gz"))
    assert found.plans == [] and found.left_out == 5


@pytest.mark.parametrize("name", ["send_rnr", "nak_write", "uc_write_gap", "read", "fetch_add"])
def test_a_healthy_model_passes_what_soft_roce_was_asked(tmp_path: Path, name: str) -> None:
    done = CliRunner().invoke(
        cli,
        ["fuzz", "import", str(CAPTURES / f"{name}.pcapng.gz"), "--folder", str(tmp_path)],
    )
    assert done.exit_code == 0, done.output
    entries = tuple(Folder(tmp_path).entries())
    assert f": {len(entries)} entries" in done.output
    options = Options(target="model", dut=REFERENCE_DUT)
    part = Part(folder=tmp_path, options=options, width=None, first=1, count=0, entries=entries)
    came = play(part)
    assert (came.programs, came.found, came.broke) == (len(entries), {}, [])


def test_a_capture_that_asks_nothing_is_told(tmp_path: Path) -> None:
    capture = str(CAPTURES / "send_ud.pcapng.gz")
    done = CliRunner().invoke(cli, ["fuzz", "import", capture, "--folder", str(tmp_path)])
    assert done.exit_code != 0 and "nothing to ask" in str(done.exception)
