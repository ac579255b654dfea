# SPDX-License-Identifier: BSD-2-Clause
"""The native back end, on a kernel that has rdma_rxe: the whole demonstration inside the VM.

The machine mounts this host's root read-only and runs the project as it lies
here: same Python, same simulation, a TAP and an rxe device of the guest's kernel.
"""

from __future__ import annotations

import pytest

from roceproof.common.paths import REFERENCE_DUT
from roceproof.dpi import build_simulation, load_manifest
from roceproof.rxe_env.vm.inside import run_inside_vm

# tests/rxe_env/test_native.py sends one message this way in `make test`.
pytestmark = [pytest.mark.rxe, pytest.mark.sim, pytest.mark.slow]


def test_every_message_lands_in_a_native_receiver(console) -> None:
    build_simulation(load_manifest(REFERENCE_DUT), data_width=64, ports=1)
    command = [str(console.command), "demo", "--backend", "native", "--short", "--out", "/tmp/demo"]
    code, output = run_inside_vm(command)
    assert code == 0, output
    assert "176 of 176 messages landed" in output
    assert "(native, none, Linux " in output
