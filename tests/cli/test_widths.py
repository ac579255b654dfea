# SPDX-License-Identifier: BSD-2-Clause
"""A command that takes any device has its width from the manifest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import pytest
from click.testing import CliRunner

from roceproof.cli.console.main import cli
from roceproof.common.paths import REPOSITORY

WIDTHS = {"width", "widths"}
A_BYTE_WIDE = REPOSITORY / "examples" / "byte_endpoint" / "dut.toml"


def commands(group: click.Group, context: click.Context) -> Iterator[click.Command]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, context)
        elif command is not None:
            yield command


def test_no_width_is_usual_where_the_device_is_not() -> None:
    usual = {
        command.name: {each.name: each.default for each in command.params}
        for command in commands(cli, click.Context(cli))
    }
    takes_any = {name for name, has in usual.items() if has.keys() & {"dut", "manifest"}}
    assert takes_any >= {"demo", "demo-receive", "gate", "interop", "sim", "soak", "test"}
    for name in takes_any & {name for name, has in usual.items() if has.keys() & WIDTHS}:
        assert not any(isinstance(usual[name].get(each), int | tuple) for each in WIDTHS), name


@pytest.mark.parametrize("name", ["demo", "demo-receive"])
def test_a_demonstration_takes_the_manifests_first(monkeypatch, name: str) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "roceproof.conformance.demo.send.run_demo", lambda wanted, *_, **__: asked.append(wanted)
    )
    CliRunner().invoke(cli, [name, "--dut", str(A_BYTE_WIDE)], catch_exceptions=False)
    CliRunner().invoke(cli, [name], catch_exceptions=False)
    assert [each.data_width for each in asked] == [8, 64]
    assert asked[0].command == f"roceproof {name} --width 8 --seed 1 --dut {A_BYTE_WIDE}"


def test_a_run_on_a_link_takes_the_manifests_first(monkeypatch) -> None:
    asked: list[dict[str, Any]] = []
    for each in ("compile.cache.build_simulation", "session.run.run_on_link"):
        monkeypatch.setattr(f"roceproof.dpi.{each}", lambda *_, **has: asked.append(has))
    words = ["sim", "--link", "tap:any", "--dut", str(A_BYTE_WIDE), "--quiet"]
    CliRunner().invoke(cli, words, catch_exceptions=False)
    assert [has["data_width"] for has in asked] == [8, 8]


def test_a_line_stands_in_front_of_the_link_with_the_run_s_seed(monkeypatch) -> None:
    asked: list[dict[str, Any]] = []
    for each in ("compile.cache.build_simulation", "session.run.run_on_link"):
        monkeypatch.setattr(f"roceproof.dpi.{each}", lambda *_, **has: asked.append(has))
    words = ["sim", "--link", "tap:any", "--line", "rate=10000000,loss=5", "--seed", "9", "-q"]
    CliRunner().invoke(cli, words, catch_exceptions=False)
    assert asked[1]["port"].link == "line:seed=9,rate=10000000,loss=5;tap:any"
    assert "--line rate=10000000,loss=5 --link tap:any" in asked[1]["command"]
