# SPDX-License-Identifier: BSD-2-Clause
"""Options that several commands have, and in each mean the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from roceproof.common.arguments import DATA_WIDTH, INPUT_FILE, MANIFEST, OUTPUT_FOLDER
from roceproof.conformance.runner.session.asked import command_option


def _lasting(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """A callback: a file that can be read more than once, by us and by a child."""
    if path is not None and not path.is_file():
        raise click.BadParameter("it is no regular file, and is read twice", context, parameter)
    return path


qps_option = click.option(
    "--qps",
    type=INPUT_FILE,
    callback=_lasting,
    help="Configured QP facts that a capture alone cannot show.",
)
waivers_option = click.option(
    "--waivers", type=INPUT_FILE, help="Broken rules that are accepted for a time (TOML)."
)
kernel_option = command_option("kernel")
width_option = click.option(
    "--width", type=DATA_WIDTH, help="Bits of its data path; the manifest's first if not given."
)
mutant_option = command_option("mutant")


cluster_option = click.option(
    "--cluster", metavar="DASK", help="Play on the workers of this Dask scheduler instead of -j."
)


def out_option(place: str, holds: str) -> Callable[[Any], Any]:
    """The folder for all that a command leaves."""
    return click.option(
        "--out", type=OUTPUT_FOLDER, default=Path(place), show_default=True, help=holds
    )


def suite_option(usual: str) -> Callable[[Any], Any]:
    """The share of the cases that a command over whole devices runs."""
    suites = click.Choice(["smoke", "gate", "full"])
    return click.option(
        "--suite", type=suites, default=usual, show_default=True, help="Which cases."
    )


def plan_device_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which device plays random plans."""
    for option in (
        click.option(
            "--width",
            "widths",
            type=DATA_WIDTH,
            multiple=True,
            help="Data width (hdl); may be repeated.",
        ),
        click.option(
            "--dut",
            type=MANIFEST,
            help="Manifest of the device (hdl); the reference endpoint if not given.",
        ),
        command_option("device_ip"),
        command_option("mirror"),
        command_option("agent"),
        command_option("interface"),
        kernel_option,
        command_option("target", default="hdl", show_default=True, help="What to test."),
    ):
        command = option(command)
    return command
