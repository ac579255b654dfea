# SPDX-License-Identifier: BSD-2-Clause
"""The agent's protocol layer, with ASan and UBSan, fed whatever a hostile peer can think of."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from roceproof.rxe_env.client import agent_build

LINE_MAX = 256 * 1024
MUTATIONS = 1500
HOSTILE_LINES = [
    b"",
    b"null",
    b"[]",
    b"{}",
    b'"hello"',
    b"{" * 5000,
    b"[" * 100000,
    b'{"id":1,"op":"hello"',
    b'{"id":1,"id":2,"op":"hello"}',
    b'{"id":-1,"op":"hello"}',
    b'{"id":1.5,"op":"hello"}',
    b'{"id":99999999999999999999999,"op":"hello"}',
    b'{"id":1,"op":7}',
    b'{"id":1,"op":"' + b"A" * 100000 + b'"}',
    b'{"id":1,"op":"\\u0000hello"}',
    b'{"id":1,"op":"\xff\xfe"}',
    '{"id":1,"op":"éééééééééééééééééééééééééééééé"}'.encode(),
    b'{"id":1,"op":"%s%n%s%n"}',
    b'{"id":1,"op":"hello","' + b"k" * 1000 + b'":1}',
    b"\0\0\0\0",
]


@pytest.fixture(scope="module")
def agent() -> Path:
    return agent_build.build_agent(flags=agent_build.SANITISED)


def converse(agent: Path, lines: list[bytes]) -> list[dict[str, Any]]:
    """The agent's answers, one for each line; a crash or a sanitiser report fails."""
    done = subprocess.run(
        [agent], input=b"".join(line + b"\n" for line in lines), capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0] == {"event": "ready", "schema": 1}
    assert len(answers) == len(lines) + 1
    return answers[1:]


def test_hello_without_a_device_says_that_there_is_none(agent: Path) -> None:
    if Path("/sys/class/infiniband").is_dir():
        pytest.skip("this host has RDMA devices")
    (answer,) = converse(agent, [b'{"id":1,"op":"hello"}'])
    assert not answer["ok"]
    assert answer["id"] == 1
    assert "no RDMA device" in answer["error"]


def test_a_device_that_does_not_exist_is_named(agent: Path) -> None:
    request = b'{"id":1,"op":"hello"}\n'
    done = subprocess.run(
        [agent, "--device", "nosuch"], input=request, capture_output=True, timeout=20, check=True
    )
    answer = json.loads(done.stdout.splitlines()[1])
    assert not answer["ok"]


@pytest.mark.parametrize("line", HOSTILE_LINES, ids=lambda line: repr(line[:24]))
def test_a_hostile_line_gets_an_error_and_the_next_request_an_answer(
    agent: Path, line: bytes
) -> None:
    refused, answered = converse(agent, [line, b'{"id":2,"op":"quit"}'])
    assert refused["ok"] is False
    assert refused["error"]
    assert answered == {"id": 2, "ok": True}


@pytest.mark.parametrize("length", [LINE_MAX - 1, LINE_MAX, LINE_MAX + 1, 3 * LINE_MAX])
def test_a_line_of_any_length_gets_one_answer(agent: Path, length: int) -> None:
    refused, answered = converse(agent, [b"x" * length, b'{"id":2,"op":"quit"}'])
    assert ("longer than" in refused["error"]) == (length >= LINE_MAX)
    assert answered["ok"]


def test_a_last_line_without_newline_is_not_run(agent: Path) -> None:
    done = subprocess.run([agent], input=b'{"id":1,"op":"quit"}', capture_output=True, timeout=20)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1


def test_unknown_fields_are_refused_with_the_known_ones(agent: Path) -> None:
    (answer,) = converse(agent, [b'{"id":1,"op":"reg_mr","pd":1,"lenght":4}'])
    assert "unknown field 'lenght'" in answer["error"]
    assert "size" in answer["error"]


def test_mutated_requests_never_break_the_agent(agent: Path) -> None:
    dice = random.Random(4791)
    seeds = [
        b'{"id":1,"op":"reg_mr","pd":1,"size":4096,"access":["local_write"],"fill":7}',
        b'{"id":2,"op":"post_send","qp":1,"wrs":[{"opcode":"write","sge":[{"mr":1,"length":4}]}]}',
        b'{"id":3,"op":"modify_qp","qp":1,"state":"RTR","dgid":"::ffff:10.77.0.1"}',
    ]
    lines = []
    for _ in range(MUTATIONS):
        line = bytearray(dice.choice(seeds))
        for _ in range(dice.randint(1, 6)):
            line[dice.randrange(len(line))] = dice.randrange(256)
        lines.append(bytes(line).replace(b"\n", b" "))
    converse(agent, [line for line in lines if b"quit" not in line])


def test_two_operands_are_a_usage_error(agent: Path) -> None:
    done = subprocess.run([agent, "a", "b"], capture_output=True, timeout=20)
    assert done.returncode == 2
    assert b"usage" in done.stderr


def test_a_channel_that_cannot_be_opened_is_named(agent: Path) -> None:
    done = subprocess.run([agent, "/nonexistent/port"], capture_output=True, timeout=20)
    assert done.returncode == 2
    assert b"/nonexistent/port" in done.stderr
