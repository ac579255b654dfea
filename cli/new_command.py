# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof new``: a wrapper and a manifest to begin with, which build and run as they stand."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from roceproof.cli.new_text import MANIFEST, WRAPPER, Device, manifest_text, wrapper_text
from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable
from roceproof.common.whole_file import whole_file
from roceproof.dpi import load_manifest
from roceproof.dpi.compile.cache import circuit_of
from roceproof.dpi.manifest.schema import manifest_schema

SCHEMA = "dut.schema.json"
_NO_NAME = re.compile(r"[^A-Za-z0-9_.+-]")


def run_new(directory: Path, device: Device) -> int:
    """Write the files, none of which may be there, and say what to do next."""
    texts = _texts(device, name=device.name or _NO_NAME.sub("_", directory.resolve().name))
    _create(directory, texts)
    manifest, wrapper = printable(directory / MANIFEST), printable(directory / WRAPPER)
    print(
        f"{manifest}: what the core is made of, can do and cannot; add its sources\n"
        f"{wrapper}: where its streams meet the contract, to be filled in\n"
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
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / SCHEMA
    if path.is_symlink() and not path.exists():
        raise RoceproofError(f"{printable(path)} is a link that leads nowhere; remove it")
    with whole_file(directory / SCHEMA) as part:
        part.write_text(_schema_text(), encoding="utf-8")


def _schema_text() -> str:
    return json.dumps(manifest_schema(), indent=1) + "\n"
