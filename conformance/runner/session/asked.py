# SPDX-License-Identifier: BSD-2-Clause
"""What a run of the suite is asked for: a field for each option that cases heed.

The command's options, those of the pytest session, and the words that hand them on or repeat a case
follow from the fields. This loads nothing but what help needs.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any

import click

from roceproof.common.arguments import DATA_WIDTH, MANIFEST, SEED, WORD, command_line

TARGETS = ("hdl", "rxe", "nic", "model")
SUITES = ("smoke", "gate", "full", "long")


def asked(
    help: str,
    *,
    default: Any = None,
    of: Callable[[str], object] = str,
    repeats: bool = False,
    **shell: Any,
) -> Any:
    """A field for an option; one that `repeats` is needed to run a case again.

    `of` makes its value of pytest's text, `shell` is what click is told besides.
    """
    return field(default=default, metadata={"help": help, "of": of, "repeats": repeats} | shell)


@dataclass(frozen=True, kw_only=True)
class Asked:
    target: str = asked(
        "What to test; hdl if not given.", default=MISSING, repeats=True, type=click.Choice(TARGETS)
    )
    dut: Path | None = asked(  # noqa: RUF009  # it makes a field
        "Manifest of the device (hdl), or of what the model keeps within; else the endpoint.",
        of=Path,
        repeats=True,
        type=MANIFEST,
    )
    suite: str = asked(
        "Which cases; smoke if nothing else chooses them. Gate is full with a share of what is "
        "many, long ones take minutes each.",
        default="full",
        type=click.Choice(SUITES),
    )
    seed: int = asked("Of all that cases draw; 1 if not given.", default=1, of=int, type=SEED)
    width: tuple[int, ...] = asked(
        "Data width (hdl); all without it; may be repeated.", default=(), of=int, type=DATA_WIDTH
    )
    kernel: str | None = asked(
        "The guest's: distribution (default), a version such as 6.12, newest, or packages, or a "
        "boot image and its modules, separated by commas.",
        repeats=True,
        type=WORD,
        metavar="WHICH",
    )
    interface: str | None = asked("Network interface (nic).", repeats=True, type=WORD)
    agent: str | None = asked(
        "Command that starts the verbs agent beside the NIC (nic).",
        repeats=True,
        callback=command_line,
    )
    mirror: str | None = asked(
        "Interface that gets a copy of what the device sends (nic).", repeats=True, type=WORD
    )
    device_ip: str | None = asked(
        "Which of the device's addresses to use (nic).", repeats=True, type=WORD
    )
    mutant: str | None = asked(
        "Test a planted fault instead of the healthy device.", repeats=True, type=WORD
    )
    keep_all: bool = asked("Keep the captures of passing cases, too.", default=False)
    keep_requests: bool = asked("Keep what the device asks for (hdl).", default=False, hidden=True)
    show: bool = asked("Show the packets of failures as Scapy does.", default=False)
    waves: bool = asked("Write waves of every case that runs (hdl).", default=False)


def spelled(option: Field[Any], *, prefix: str = "--") -> str:
    return prefix + option.name.replace("_", "-")


def words_of(what: Asked, *, prefix: str = "--", repeats: bool = False) -> Iterator[str]:
    """What asks for the same, or with `repeats` for the same device; defaults need no words."""
    for option in fields(what):
        value = getattr(what, option.name)
        if value == option.default or option.metadata.get("repeats", -1) < repeats:
            continue
        for each in value if isinstance(value, tuple) else [value]:
            yield spelled(option, prefix=prefix)
            if isinstance(each, Path):
                yield os.path.relpath(each)
            elif each is not True:
                yield str(each)


def command_option(name: str, **more: Any) -> Callable[[Any], Any]:
    """Click's, of one field."""
    option = Asked.__dataclass_fields__[name]
    about = {key: value for key, value in option.metadata.items() if key not in ("of", "repeats")}
    about |= {"is_flag": option.default is False, "multiple": option.default == ()} | more
    return click.option(spelled(option), **about)


def command_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate the command with all; what is not given is None, an empty tuple or False."""
    for option in reversed(fields(Asked)):
        command = command_option(option.name)(command)
    return command
