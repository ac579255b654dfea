# SPDX-License-Identifier: BSD-2-Clause
"""An agent that answers nonsense, without end, or with what steers a terminal: one line each."""

from __future__ import annotations

import json
import random
import resource
import sys
from pathlib import Path

import pytest

from roceproof.conformance.check.doctor import tell_checks
from roceproof.conformance.nic.doctor import _far
from roceproof.conformance.targets.verbs.command_agent import CommandAgent
from roceproof.rxe_env.errors import RxeError

HERE = Path(__file__).parent
HELLO = {
    "ok": True,
    "device": "mlx5_0",
    "kernel": "6.12.0",
    "host": "lab",
    "netdev": "ens1",
    "mac": "02:00:00:00:0c:01",
    "active_mtu": 4096,
    "gids": [{"index": 0, "gid": "::ffff:192.168.50.2", "type": "roce_v2"}],
}
LOOK = {"ok": True, "exists": True, "readable": True, "writable": True, "text": "1", "names": ["a"]}
STRANGE = (None, -1, 10**30, "", "\x1b[2J", [], {}, True, 0.5, "9" * 5000, [[]], "zz")


def agent(*lines: str) -> list[str]:
    return [sys.executable, str(HERE / "hostile_agent.py"), *lines]


def answer(fields: dict[str, object]) -> str:
    return json.dumps({**fields, "id": 0}).replace('"id": 0', '"id": @')


def told(command: list[str]) -> list[str]:
    """What the doctor says of it, as it stands on the terminal."""
    return [f"{check.name} {check.detail} {check.remedy}" for check in _far(command)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("null", "what is no object"),
        ("[]", "what is no object"),
        ("7", "what is no object"),
        ("{}", "without 'ok'"),
        ('{"id": @}', "without 'ok'"),
        ('{"ok": "yes"}', "error is missing"),
        ('{"ok": false, "error": ["x"], "errno": 1}', "error is no str"),
        ('{"ok": true, "id": @}', "kernel is missing"),
        ("\\xff", "what is no JSON"),
        ("[" * 100_000, "what is no JSON"),
        ("endless", "4,194,304 bytes and no answer"),
        ("events", "4,194,304 bytes and no answer"),
    ],
)
def test_nonsense_is_told_in_one_line(line: str, words: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (said,) = told(agent(line))
    assert words in said and said.count("\n") == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


def test_its_last_words_do_not_steer_a_terminal() -> None:
    (said,) = told(agent("complains"))
    assert "\\x1b[2J" in said and "\\u202ewords" in said
    assert "\x1b" not in said and "\u202e" not in said and len(said) < 20_000


def test_an_answer_that_lacks_what_is_needed_is_the_agents_fault() -> None:
    there = CommandAgent(agent(answer(HELLO), '{"ok": true, "id": @}'))
    try:
        with pytest.raises(RxeError, match="answered 'alloc_pd' without 'pd'"):
            _ = there.pd
    finally:
        there.close()


def test_every_answer_may_be_damaged(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(12):
        draw = random.Random(seed)
        lines = []
        for fields in (HELLO, *[LOOK] * 8):
            broken = dict(fields)
            if draw.random() < 0.4:
                broken[draw.choice(list(broken))] = draw.choice(STRANGE)
            lines.append(answer(broken))
        assert tell_checks(list(_far(agent(*lines))), as_json=False) in (0, 1)
        assert "\x1b" not in capsys.readouterr().out
