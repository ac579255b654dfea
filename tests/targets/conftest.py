# SPDX-License-Identifier: BSD-2-Clause
"""A warm source for the tests of what a device with a verbs agent can do.

Soft-RoCE's own, unless the environment names an interface: nic_namespace.py runs the same
tests so, through a packet socket, and without or with a mirror port.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.verbs.factory import VerbsFactory
from roceproof.conformance.targets.verbs.nic import NicFactory, NicOptions
from roceproof.conformance.targets.verbs.rxe import RxeFactory
from roceproof.conformance.targets.verbs.target import VerbsTarget


def nic_options(*, mirror: bool = False) -> NicOptions:
    """What nic_namespace.py has set up."""
    return NicOptions(
        interface=os.environ["NIC_INTERFACE"],
        agent=shlex.split(os.environ["NIC_AGENT"]),
        mirror=os.environ["NIC_MIRROR"] if mirror else None,
    )


@pytest.fixture(scope="session")
def source() -> Iterator[VerbsFactory]:
    started = NicFactory(nic_options()) if "NIC_INTERFACE" in os.environ else RxeFactory()
    yield started
    started.close()


@pytest.fixture
def target(source: VerbsFactory, request: pytest.FixtureRequest) -> Iterator[VerbsTarget]:
    with source.device(CasePlace(name=request.node.name, seed=1)) as device:
        assert isinstance(device, VerbsTarget)
        yield device
