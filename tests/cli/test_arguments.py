# SPDX-License-Identifier: BSD-2-Clause
"""No option of any command takes a number, a path or a name that cannot be meant."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from roceproof.cli import check
from roceproof.cli.console.main import cli
from roceproof.common.arguments import Number, PlacePath, Word
from roceproof.conformance.campaign.minimise import Minimised
from roceproof.conformance.campaign.run import Campaign
from roceproof.conformance.gate.run import Gate
from roceproof.conformance.interop.run import Wanted
from roceproof.conformance.nic.rehearsal import Rehearsal
from roceproof.conformance.regression.kernels import Runs
from roceproof.conformance.regression.soak import Soak

NONSENSE = ("nan", "-inf", "Infinity", "1e308", "-1", "", "9" * 5000, "0x", "one", "\x1b[31m")
UNBOUNDED = (type(click.INT), type(click.FLOAT), click.IntRange, click.FloatRange, click.Path)
USAGE = 2


def parameters(
    command: click.Command = cli, path: str = "roceproof"
) -> Iterator[tuple[str, click.Parameter]]:
    context = click.Context(command)
    for each in command.params:
        yield f"{path} {max(each.opts, key=len)}", each
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from parameters(below, f"{path} {name}")


EVERY = list(parameters())


def refusal(parameter: click.Parameter, text: str) -> str:
    with pytest.raises(click.BadParameter) as refused:
        parameter.type.convert(text, parameter, None)
    return refused.value.format_message()


def test_each_number_has_both_ends() -> None:
    found = [(name, each) for name, each in EVERY if isinstance(each.type, Number)]
    assert len(found) > 25
    for name, each in found:
        kind = each.type
        assert isinstance(kind, Number)
        for text in (*NONSENSE, str(kind.most + 1), str(kind.least - 1)):
            words = refusal(each, text)
            assert len(words) < 200 and words.isprintable(), (name, words)
        for end in (kind.least, kind.most):
            assert kind.convert(str(end), each, None) == end


def test_a_whole_number_may_be_hexadecimal() -> None:
    whole, other = Number(0, 0x10), Number(0, 0x10, whole=False)
    assert [whole.convert(text, None, None) for text in ("0x0a", "0X10", "010")] == [10, 16, 10]
    for kind, text in ((whole, "0x11"), (whole, "-0x1"), (other, "0x0a")):
        with pytest.raises(click.BadParameter):
            kind.convert(text, None, None)


def test_no_path_and_no_name_is_empty() -> None:
    found = [each for _, each in EVERY if isinstance(each.type, PlacePath | Word)]
    assert len(found) > 60
    for each in found:
        assert "it is empty" in refusal(each, "")


def test_every_option_is_of_a_type_that_refuses_nonsense() -> None:
    loose = [
        name
        for name, each in EVERY
        if isinstance(each.type, UNBOUNDED) and not isinstance(each.type, PlacePath)
    ]
    assert loose == []


@pytest.mark.parametrize(
    "words",
    [
        ("soak", "--minutes", "nan"),
        ("soak", "--minutes", "1e308"),
        ("demo-receive", "--loss", "nan"),
        ("test", "--mutant", ""),
        ("gate", "rtl/dut.toml", "--out", ""),
        ("new", ""),
        ("explain", "x", "--qps", "/dev/zero"),
        ("test", "--target", "\x1b[2J"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_nonsense_ends_as_one_line(console, words) -> None:
    run = console.run(*words)
    assert (run.returncode, run.stdout) == (USAGE, "")
    assert run.stderr.startswith("roceproof: ") and run.stderr.count("\n") == 1
    assert run.stderr[:-1].isprintable()
    assert f"see: roceproof {words[0]} --help" in run.stderr


def test_what_a_command_hands_on_has_a_field_for_each_option() -> None:
    handed: dict[str, tuple[type, ...]] = {
        "check": (check.Request, check.Output),
        "fuzz minimise": (Minimised,),
        "fuzz run": (Campaign,),
        "gate": (Gate,),
        "interop": (Wanted,),
        "kernels": (Runs,),
        "nic rehearse": (Rehearsal,),
        "soak": (Soak,),
    }
    for path, types in handed.items():
        command: click.Command = cli
        for word in path.split():
            assert isinstance(command, click.Group)
            below = command.get_command(click.Context(command), word)
            assert below is not None
            command = below
        bases = [base for each in types for base in each.__mro__]
        fields = {name for base in bases for name in vars(base).get("__annotations__", ())}
        named = {str(each.name).removeprefix("no_") for each in command.params}
        assert named == fields, path
