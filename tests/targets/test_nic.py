# SPDX-License-Identifier: BSD-2-Clause
"""A NIC as a target: what a ConnectX's user runs, with the guest and a TAP for card and cable."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.common.errors import Skipped
from roceproof.conformance.demo.tap import UNSHARE, require_tap
from roceproof.conformance.targets.interface import CasePlace, TargetError
from roceproof.conformance.targets.verbs.nic import NicFactory, NicOptions
from roceproof.rxe_env.vm import saved, vm_backend

HERE = Path(__file__).parent
INSIDE = (
    "nic_checks.py",
    "test_rxe_responder.py",
    "test_rxe_requester.py",
    "test_rxe_queue_pairs.py",
    "test_rxe_connections.py",
)
INSIDE_SECONDS = 120
PLACE = CasePlace(name="nic", seed=1)


@pytest.mark.rxe
def test_all_holds_through_a_packet_socket() -> None:
    try:
        require_tap()
    except Skipped as reason:
        pytest.skip(str(reason))
    saved.state_for(vm_backend.machine(print))  # may need the network, which is not in there
    program = [sys.executable, str(HERE / "nic_namespace.py")]
    arguments = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--tb=short",
        *(str(HERE / name) for name in INSIDE),
    ]
    run = subprocess.run(
        [*UNSHARE, *program, *arguments],
        capture_output=True,
        text=True,
        timeout=INSIDE_SECONDS,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_an_interface_that_is_not_there_is_told() -> None:
    with pytest.raises(TargetError, match="there is no interface nosuch0"):
        NicFactory(NicOptions(interface="nosuch0", agent=["cat"]))


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (["/nonexistent/agent"], "cannot start the agent: No such file"),
        (
            ["sh", "-c", "echo Permission denied >&2"],
            "does not start .*went away.*: Permission denied",
        ),
    ],
)
def test_an_agent_that_does_not_start_is_told_with_what_it_said(
    agent: list[str], reason: str
) -> None:
    source = NicFactory(NicOptions(interface="lo", agent=agent))
    with pytest.raises(TargetError, match=reason), source.device(PLACE):
        pass
    source.close()
