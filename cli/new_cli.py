# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof new``; the rest is imported when it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from roceproof.common.arguments import DATA_WIDTH, OUTPUT_FOLDER, WORD
from roceproof.examples import examples


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
@click.option("--rc", metavar="OPS", help="Operations on RC, such as SEND,WRITE.")
@click.option("--uc", metavar="OPS", help="Operations on UC; WRITE on RC if neither is given.")
@click.option("--schema", is_flag=True, help="Only write the manifest's JSON schema anew.")
def new(
    directory: Path,
    name: str | None,
    width: tuple[int, ...],
    rc: str | None,
    uc: str | None,
    schema: bool,
) -> None:
    """Begin with a device: a wrapper to be filled in, and its manifest, in DIRECTORY."""
    from roceproof.new_command import Device, run_new, write_schema

    if schema:
        write_schema(directory)
        return
    operations = {"RC": rc, "UC": uc} if rc or uc else {"RC": "WRITE", "UC": None}
    claimed = {service: ops.split(",") for service, ops in operations.items() if ops}
    device = Device(name=name, widths=width, operations=claimed)
    sys.exit(run_new(directory, device))
