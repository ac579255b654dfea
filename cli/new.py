# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof new``: a wrapper and a manifest to begin with, which build and run as they stand."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.common.arguments import DATA_WIDTH, OUTPUT_FOLDER, WORD
from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable

if TYPE_CHECKING:
    from roceproof.dpi.manifest.skeleton import Device


_OPERATIONS: dict[str, Any] = {"metavar": "OPS", "multiple": True}
SCHEMA = "dut.schema.json"
_NO_NAME = re.compile(r"[^A-Za-z0-9_.+-]")


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
@click.option("--uc", **_OPERATIONS, help="Operations on UC.")
@click.option(
    "--ud", **_OPERATIONS, help="Operations on UD; WRITE on RC if it neither sends nor answers."
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
    ud: tuple[str, ...],
    responder: bool,
    executes: tuple[str, ...],
    cm: bool,
    static_keys: bool,
    backdoor: bool,
    schema: bool,
) -> None:
    """Begin with a device: a wrapper to be filled in, and its manifest, in DIRECTORY."""
    from roceproof.dpi.manifest.skeleton import USUAL, Device

    answers = responder or cm or static_keys or backdoor or executes
    if schema:
        if answers or name or rc or uc or ud:
            raise click.UsageError("--schema writes nothing but the schema: leave out the rest")
        write_schema(directory)
        return
    sent = {"RC": _words(rc), "UC": _words(uc), "UD": _words(ud)}
    if not answers and not any(sent.values()):
        sent = {"RC": ["WRITE"]}
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


def run_new(directory: Path, device: Device) -> int:
    """Write the files, none of which may be there, and say what to do next."""
    from roceproof.dpi.manifest.skeleton import MANIFEST, WRAPPER

    if (shown := printable(directory)) != str(directory):
        raise RoceproofError(f"{shown}: a name that cannot be typed; leave out what is escaped")
    texts = _texts(device, name=device.name or _NO_NAME.sub("_", directory.resolve().name))
    _create(directory, texts)
    manifest = str(directory / MANIFEST)
    print(
        f"{manifest}: what the core is made of, can do and cannot; add its sources\n"
        f"{directory / WRAPPER}: where its streams meet the contract, to be filled in\n"
        "next, again and again, for what is missing:\n"
        f"  roceproof gate --suite smoke --no-guest {shlex.quote(manifest)}"
    )
    return 0


def _create(directory: Path, texts: Mapping[str, str]) -> None:
    """All files, none of which may be there before, or nothing at all."""
    made: list[Path] = []
    path = directory
    try:
        for path in reversed(
            [each for each in (directory, *directory.parents) if not each.exists()]
        ):
            path.mkdir()
            made.append(path)
        for name, text in texts.items():
            path = directory / name
            with path.open("x", encoding="utf-8") as file:  # which follows no symbolic link
                made.append(path)
                file.write(text)
    except BaseException as error:
        for each in reversed(made):
            each.rmdir() if each.is_dir() else each.unlink()
        if isinstance(error, FileExistsError):
            told = f"{printable(path)} exists; name a new directory, or remove it"
            raise RoceproofError(told) from None
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _texts(device: Device, *, name: str) -> dict[str, str]:
    """Of all files; what was asked for may be no device."""
    from tempfile import TemporaryDirectory

    from roceproof.dpi import load_manifest
    from roceproof.dpi.compile.cache import circuit_of
    from roceproof.dpi.manifest.skeleton import MANIFEST, WRAPPER, manifest_text, wrapper_text

    text = manifest_text(device, name=name)
    with TemporaryDirectory() as scratch:
        manifest = Path(scratch) / MANIFEST
        manifest.write_text(text, encoding="utf-8")
        manifest.with_name(WRAPPER).touch()  # a source has to be there
        try:
            macros = circuit_of(load_manifest(manifest)).defines
        except RoceproofError as error:
            raise RoceproofError(str(error).removeprefix(f"{manifest}: ")) from error
    wrapper = wrapper_text(macros, width=device.widths[0])
    return {MANIFEST: text, WRAPPER: wrapper, SCHEMA: _schema_text()}


def write_schema(directory: Path) -> None:
    """The schema of manifests beside one, for editors."""
    from roceproof.common.whole_file import whole_file

    directory.mkdir(parents=True, exist_ok=True)
    path = directory / SCHEMA
    if path.is_symlink() and not path.exists():
        raise RoceproofError(f"{printable(path)} is a link that leads nowhere; remove it")
    with whole_file(directory / SCHEMA) as part:
        part.write_text(_schema_text(), encoding="utf-8")


def _schema_text() -> str:
    from roceproof.dpi.manifest.schema import manifest_schema

    return json.dumps(manifest_schema(), indent=1) + "\n"
