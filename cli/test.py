# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof test``: options of a session stand in `Asked`, others here.

Everything else is imported when it runs.
"""

import sys
from pathlib import Path
from typing import Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import out_option, waivers_option
from roceproof.common.arguments import JOBS, RESULTS
from roceproof.conformance.runner.session.asked import command_options


@click.command("test", epilog=examples("test"))
@click.argument("cases", nargs=-1, type=RESULTS)
@command_options
@click.option("-k", "expression", help="Only cases whose names match, as in pytest.")
@out_option("build/conformance", "Captures of failing cases, results.json and junit.xml.")
@click.option("--resume", is_flag=True, help="Take up the run in --out that was cut short.")
@waivers_option
@click.option("--per-rule", is_flag=True, help="Print what came of each rule.")
@click.option("--coverage", is_flag=True, help="Count what the stimulus reaches.")
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option("-j", "jobs", type=JOBS, help="Workers; 2 if not given, 1 with nic.")
@click.option("-q", "--quiet", is_flag=True, help="Failures only, and no progress on stderr.")
def test(out: Path, per_rule: bool, as_json: bool, quiet: bool, **given: Any) -> None:
    """Run the conformance suite, or CASES of your own; exit code 1 if a case fails."""
    from roceproof.conformance.regression.request import Output, Request
    from roceproof.conformance.regression.run import run_suite

    is_chosen = given["cases"] or given["expression"]
    usual = {"target": "hdl", "suite": "full" if is_chosen else "smoke"}
    wanted = {name: value for name, value in given.items() if value is not None}
    request = Request(**usual | wanted)
    output = Output(directory=out, per_rule=per_rule, as_json=as_json, quiet=quiet)
    sys.exit(run_suite(request, output))
