# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof new``: a wrapper and a manifest to begin with, which build and run as they stand.

Both are those of examples/skeleton, with the claims that were asked for.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REPOSITORY
from roceproof.common.printable import printable
from roceproof.common.whole_file import whole_file
from roceproof.dpi import load_manifest
from roceproof.dpi.manifest_schema import manifest_schema

SKELETON = REPOSITORY / "examples" / "skeleton"
MANIFEST, WRAPPER, SCHEMA = "dut.toml", "roceproof_wrapper.sv", "dut.schema.json"
_NO_NAME = re.compile(r"[^A-Za-z0-9_.+-]")


@dataclass(frozen=True, kw_only=True)
class Device:
    """What is asked for: services with their operations, and data widths."""

    name: str | None
    widths: Sequence[int]
    operations: Mapping[str, Sequence[str]]


def run_new(directory: Path, device: Device) -> int:
    """Write the files, none of which may be there, and say what to do next."""
    for name in (MANIFEST, WRAPPER):
        if (directory / name).exists():
            place = printable(directory / name)
            raise RoceproofError(f"{place} exists; name a new directory, or remove it")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / WRAPPER).write_text((SKELETON / WRAPPER).read_text(), encoding="utf-8")
    manifest = directory / MANIFEST
    try:
        manifest.write_text(_manifest(directory, device), encoding="utf-8")
        load_manifest(manifest)  # what was asked for may be no device
    except RoceproofError:
        for name in (MANIFEST, WRAPPER):
            (directory / name).unlink()
        raise
    write_schema(directory)
    print(
        f"{manifest}: what the core is made of, can do and cannot; add its sources\n"
        f"{directory / WRAPPER}: where its streams meet the contract, to be filled in\n"
        "next, again and again, for what is missing:\n"
        f"  roceproof gate --suite smoke --no-guest {shlex.quote(str(manifest))}"
    )
    return 0


def write_schema(directory: Path) -> None:
    """The schema of manifests beside one, for editors."""
    directory.mkdir(parents=True, exist_ok=True)
    with whole_file(directory / SCHEMA) as part:
        part.write_text(json.dumps(manifest_schema(), indent=1) + "\n", encoding="utf-8")


def _manifest(directory: Path, device: Device) -> str:
    text = (SKELETON / MANIFEST).read_text()
    name = device.name or _NO_NAME.sub("_", directory.resolve().name)
    claims = "\n".join(
        f"{service} = {json.dumps(list(operations))}"
        for service, operations in device.operations.items()
    )
    for old, put in (
        ('name = "skeleton" ', f"name = {json.dumps(name)} "),
        ("data_widths = [64]", f"data_widths = {list(device.widths)}"),
        ('RC = ["WRITE"]\n# UC = ["WRITE"]', claims),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, put)
    return text
