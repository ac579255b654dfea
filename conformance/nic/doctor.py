# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof nic doctor``: both ends of a NIC's link, and then the link itself.

The link is tried with the first questions of the gate, and only if nothing that was looked at
before rules it out.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing

from roceproof.common.errors import RoceproofError
from roceproof.conformance.check.doctor import tell_checks
from roceproof.conformance.nic.device_checks import device_checks
from roceproof.conformance.nic.looking import here, through
from roceproof.conformance.nic.near_checks import near_checks
from roceproof.conformance.runner.connectivity import check_connectivity
from roceproof.conformance.runner.outcomes import FAILED, PASSED
from roceproof.conformance.targets.verbs.command_agent import CommandAgent
from roceproof.conformance.targets.verbs.nic import NicFactory, NicOptions
from roceproof.rxe_env.doctor import Check

SEED = 1


def run_nic_doctor(interface: str, agent: str, *, as_json: bool) -> int:
    """Print every check; 1 if one failed, else 0."""
    command = shlex.split(agent)
    checks = [*near_checks(here, interface), *_far(command)]
    if not any(check.status == "fail" for check in checks):
        checks += _between(interface, command)
    return tell_checks(checks, as_json=as_json)


def _far(command: Sequence[str]) -> list[Check]:
    try:
        with closing(CommandAgent(command, may_lack_device=True)) as agent:
            return list(device_checks(through(agent), agent.hello or None, agent.refusal))
    except RoceproofError as error:
        return [Check("agent", "fail", str(error), "run the command by hand and look")]


def _between(interface: str, command: Sequence[str]) -> Iterator[Check]:
    """Whether frames come and go; a mirror is asked for where the device's never come."""
    with closing(NicFactory(NicOptions(interface=interface, agent=command))) as factory:
        try:
            for each in check_connectivity(factory, seed=SEED):
                if each.outcome == FAILED:
                    yield Check(each.name, "fail", each.words.partition("\n")[0], "docs/nic.md")
                elif each.outcome == PASSED:
                    yield Check(each.name, "ok", each.says)
        except RoceproofError as error:
            yield Check("link", "fail", str(error))
