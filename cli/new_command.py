# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof new``: a wrapper and a manifest to begin with, which build and run as they stand."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable
from roceproof.common.whole_file import whole_file
from roceproof.dpi import load_manifest
from roceproof.dpi.build import circuit_of
from roceproof.dpi.manifest_schema import manifest_schema
from roceproof.new_text import MANIFEST, WRAPPER, Device, manifest_text, wrapper_text

SCHEMA = "dut.schema.json"
_NO_NAME = re.compile(r"[^A-Za-z0-9_.+-]")


def run_new(directory: Path, device: Device) -> int:
    """Write the files, none of which may be there, and say what to do next."""
    for name in (MANIFEST, WRAPPER):
        if (directory / name).exists():
            place = printable(directory / name)
            raise RoceproofError(f"{place} exists; name a new directory, or remove it")
    texts = _texts(device, name=device.name or _NO_NAME.sub("_", directory.resolve().name))
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    write_schema(directory)
    manifest, wrapper = directory / MANIFEST, directory / WRAPPER
    print(
        f"{manifest}: what the core is made of, can do and cannot; add its sources\n"
        f"{wrapper}: where its streams meet the contract, to be filled in\n"
        "next, again and again, for what is missing:\n"
        f"  roceproof gate --suite smoke --no-guest {shlex.quote(str(manifest))}"
    )
    return 0


def _texts(device: Device, *, name: str) -> dict[str, str]:
    """Of manifest and wrapper; what was asked for may be no device."""
    text = manifest_text(device, name=name)
    with TemporaryDirectory() as scratch:
        manifest = Path(scratch) / MANIFEST
        manifest.write_text(text, encoding="utf-8")
        manifest.with_name(WRAPPER).touch()  # a source has to be there
        try:
            macros = circuit_of(load_manifest(manifest)).defines
        except RoceproofError as error:
            raise RoceproofError(str(error).removeprefix(f"{manifest}: ")) from error
    return {MANIFEST: text, WRAPPER: wrapper_text(macros, width=device.widths[0])}


def write_schema(directory: Path) -> None:
    """The schema of manifests beside one, for editors."""
    directory.mkdir(parents=True, exist_ok=True)
    with whole_file(directory / SCHEMA) as part:
        part.write_text(json.dumps(manifest_schema(), indent=1) + "\n", encoding="utf-8")
