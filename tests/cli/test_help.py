# SPDX-License-Identifier: BSD-2-Clause
"""Every command's help ends with examples that parse, and shells can complete the commands."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator

import click
import pytest

from roceproof.cli.console.main import cli

FILES = (
    *("coverage.json", "build/conformance/coverage.json"),
    *(
        "results/a",
        "results/b",
        "capture.pcapng",
        "fpga.pcapng",
        "mine.plan",
        "nic.pcapng",
        "qps.json",
        "rtl/dut.toml",
    ),
)


def commands(
    command: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*path, name))


def parse(command: click.Command, words: list[str], parent: click.Context | None = None) -> str:
    """Parse without running; the path of the command that would have run."""
    context = command.make_context(words[0] if words else "", words[1:], parent=parent)
    if not isinstance(command, click.Group):
        return context.command_path
    rest = context._protected_args + context.args  # noqa: SLF001 (as click's own Group.invoke)
    _, below, more = command.resolve_command(context, rest)
    assert below is not None
    return parse(below, [rest[0], *more], context)


def test_help_ends_with_examples_of_the_command_that_parse(
    tmp_path, monkeypatch, subtests: pytest.Subtests
) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    for path, command in commands():
        with subtests.test(path):
            help_text = command.get_help(click.Context(command))
            shown = help_text.partition("Examples:\n")[2].splitlines()
            assert len(shown) >= 2
            for line in shown:
                words = shlex.split(line.rpartition("|")[2], comments=True)
                assert parse(cli, words).startswith(f"roceproof {path}".strip())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion_script(console, shell: str) -> None:
    run = console.run(_ROCEPROOF_COMPLETE=f"{shell}_source")
    assert run.returncode == 0, run.stderr
    assert "_ROCEPROOF_COMPLETE=" + f"{shell}_complete" in run.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=run.stdout, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "completed"),
    [("lad", "ladder"), ("env sta", "status"), ("check --ann", "--annotate")],
)
def test_bash_completes_commands_and_options(console, words: str, completed: str) -> None:
    place = str(len(words.split()))
    surroundings = {"COMP_WORDS": f"roceproof {words}", "COMP_CWORD": place}
    run = console.run(_ROCEPROOF_COMPLETE="bash_complete", **surroundings)
    assert run.stdout == f"plain,{completed}\n"
