# SPDX-License-Identifier: BSD-2-Clause
"""The ``roceproof`` console command: one subcommand per job.

Exit codes: 0 fine, 1 findings, 2 usage or environment, 3 the device does not
build, 77 skipped because the machine lacks something, 130 interrupted (143 by
SIGTERM), 141 nobody reads what is printed.
Results go to stdout, diagnostics to stderr. The options of a subcommand are
imported when it is named, and what it needs when it runs.
"""

from __future__ import annotations

import os
import sys

import click

from roceproof import __version__
from roceproof.common.outcome import end_with
from roceproof.examples import examples
from roceproof.lazy_group import LazyGroup

_COMPLETION = "_ROCEPROOF_COMPLETE"
_COMMANDS = {
    "check": "roceproof.check_cli:check",
    "coverage": "roceproof.reach_cli:coverage",
    "demo": "roceproof.demo_cli:demo",
    "demo-receive": "roceproof.demo_cli:demo_receive",
    "demo-tap": "roceproof.demo_cli:demo_tap",
    "diff": "roceproof.diff_cli:diff",
    "doctor": "roceproof.doctor_cli:doctor",
    "env": "roceproof.env_cli:env",
    "explain": "roceproof.explain_cli:explain",
    "gate": "roceproof.gate_cli:gate",
    "interop": "roceproof.interop_cli:interop",
    "kernels": "roceproof.kernels_cli:kernels",
    "ladder": "roceproof.ladder_cli:ladder",
    "new": "roceproof.new_cli:new",
    "nic": "roceproof.nic_cli:nic",
    "rules": "roceproof.rules_cli:rules",
    "sim": "roceproof.sim_cli:sim",
    "soak": "roceproof.soak_cli:soak",
    "test": "roceproof.suite_cli:test",
    "wireshark": "roceproof.wireshark_cli:wireshark",
}


@click.group(
    cls=LazyGroup,
    places=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(""),
)
@click.version_option(__version__, prog_name="roceproof")
def cli() -> None:
    """Co-simulation and protocol conformance for RoCEv2 transmitters."""


def main() -> None:
    """Run the command that the arguments name."""
    end_with(_run)


def _run() -> int:
    if instruction := os.environ.get(_COMPLETION):  # what the shell's completion script sets
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "roceproof", _COMPLETION, instruction)
    with cli.make_context("roceproof", sys.argv[1:]) as context:
        cli.invoke(context)
    return 0
