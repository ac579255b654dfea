# SPDX-License-Identifier: BSD-2-Clause
"""An option is the same for the command, for pytest, and in the line that repeats a case."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path

import click
import pytest

from roceproof.cli import test as of_command
from roceproof.conformance.runner.session.asked import Asked, spelled, words_of
from roceproof.conformance.runner.session.options import Options, add_options

SAID = {"target": "nic", "dut": Path("mine.toml"), "suite": "gate", "seed": 7, "width": (8, 64)}


def all_said() -> Asked:
    """Every option with a value that is not its default."""
    others = {each.name: True if each.default is False else "some words" for each in fields(Asked)}
    return Asked(**others | SAID)


def test_the_command_has_every_option_with_its_help() -> None:
    options = {p.opts[0]: p for p in of_command.test.params if isinstance(p, click.Option)}
    for each in fields(Asked):
        assert options[spelled(each)].help == each.metadata["help"]


def test_the_command_understands_the_words_of_every_option() -> None:
    asked = all_said()
    context = of_command.test.make_context("test", list(words_of(asked)))
    assert {name: context.params[name] for name in asked.__dict__} == asked.__dict__


def test_a_session_has_every_option() -> None:
    parser = pytest.Parser(_ispytest=True)
    add_options(parser)
    given = parser.parse(list(words_of(all_said(), prefix="--roce-")))
    expected = {**all_said().__dict__, "width": [8, 64]}
    assert {name: getattr(given, f"roce_{name}") for name in expected} == expected


def test_a_case_is_repeated_on_the_same_device() -> None:
    line = Options(**all_said().__dict__).replay("test_x.py::test_y")
    said = dict(zip(shlex.split(line)[2::2], shlex.split(line)[3::2], strict=False))
    assert said["--dut"] == "mine.toml"
    assert said["--agent"] == "some words"
    assert {"--keep-all", "--show", "--width"}.isdisjoint(said)
    assert (
        Options(target="model")
        .replay("test_x.py::test_y")
        .startswith("roceproof test --target model --seed 1 -k ")
    )
