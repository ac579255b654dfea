# SPDX-License-Identifier: BSD-2-Clause
"""The native back end, run where a kernel with rdma_rxe can be had: inside the virtual machine."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from roceproof.rxe_env import PeerDied, SoftRoce, Unavailable, native
from roceproof.rxe_env.vm.inside import run_inside_vm

PROGRAM = Path(__file__).parent / "native_session.py"


def test_a_host_without_rxe_is_told_to_use_the_vm() -> None:
    reason = native.missing()
    if reason is None:
        pytest.skip("this host can run Soft-RoCE natively")
    with pytest.raises(Unavailable) as caught:
        SoftRoce.start(backend="native")
    assert str(caught.value) == reason


@pytest.mark.slow  # Python in a guest that interprets every instruction
@pytest.mark.rxe
def test_a_message_lands_through_the_native_back_end_and_nothing_is_left() -> None:
    command = shlex.join([sys.executable, str(PROGRAM)])
    code, output = run_inside_vm(["sh", "-c", f"{command} && exit 42"])
    assert code == 42, output
    lines = output.splitlines()
    assert "completion: success" in lines
    assert "memory: native" in lines
    assert "acknowledged: True" in lines
    assert lines[-1] == "left: []"


@pytest.mark.whole
@pytest.mark.rxe
def test_a_command_that_never_ends_is_given_up() -> None:
    with pytest.raises(PeerDied, match="within 3 s"):
        run_inside_vm(["sleep", "1000"], timeout=3)
