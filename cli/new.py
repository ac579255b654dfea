# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof new``; the rest is imported when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from roceproof.cli.help_examples import examples
from roceproof.common.arguments import DATA_WIDTH, OUTPUT_FOLDER, WORD

_OPERATIONS: dict[str, Any] = {"metavar": "OPS", "multiple": True}
_ANSWERED = ("READ", "CMP_SWAP", "FETCH_ADD")  # with data


@click.command(epilog=examples("new"))
@click.argument("directory", type=OUTPUT_FOLDER)
@click.option("--name", type=WORD, help="Of the device; that of the directory if not given.")
@click.option(
    "--width",
    type=DATA_WIDTH,
    multiple=True,
    default=(64,),
    show_default=True,
    help="Bits of the streams; may be repeated.",
)
@click.option("--rc", **_OPERATIONS, help="Operations that it sends on RC, such as SEND,WRITE.")
@click.option(
    "--uc",
    **_OPERATIONS,
    help="Operations on UC; WRITE on RC if it neither sends nor answers.",
)
@click.option("--responder", is_flag=True, help="It answers: executes SEND and WRITE on RC.")
@click.option("--executes", **_OPERATIONS, help="It answers, and executes these on RC.")
@click.option("--cm", is_flag=True, help="It answers, and has a connection manager.")
@click.option("--static-keys", is_flag=True, help="It answers, with built-in keys.")
@click.option("--backdoor", is_flag=True, help="And memory of its own, for the bench to look into.")
@click.option("--schema", is_flag=True, help="Only write the manifest's JSON schema anew.")
def new(
    directory: Path,
    name: str | None,
    width: tuple[int, ...],
    rc: tuple[str, ...],
    uc: tuple[str, ...],
    responder: bool,
    executes: tuple[str, ...],
    cm: bool,
    static_keys: bool,
    backdoor: bool,
    schema: bool,
) -> None:
    """Begin with a device: a wrapper to be filled in, and its manifest, in DIRECTORY."""
    from roceproof.cli.new_command import run_new, write_schema
    from roceproof.cli.new_text import USUAL, Device

    answers = responder or cm or static_keys or backdoor or executes
    if schema:
        if answers or name or rc or uc:
            raise click.UsageError("--schema writes nothing but the schema: leave out the rest")
        write_schema(directory)
        return
    if not answers and (needing := [op for op in _words(rc) if op in _ANSWERED]):
        told = f"what {needing[0]} returns goes to memory, which only a responder has"
        raise click.UsageError(f"{told}: add --responder, --static-keys or --backdoor")
    sent = {"RC": _words(rc), "UC": _words(uc)} if rc or uc or answers else {"RC": ["WRITE"]}
    device = Device(
        name=name,
        widths=width,
        operations={service: names for service, names in sent.items() if names},
        executed=_words(executes) or (USUAL if answers else ()),
        cm=cm,
        static_keys=static_keys,
        backdoor=backdoor,
    )
    sys.exit(run_new(directory, device))


def _words(given: tuple[str, ...]) -> list[str]:
    """Lists of operations add up."""
    return list(dict.fromkeys(word for each in given for word in each.split(",")))
