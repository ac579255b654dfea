# SPDX-License-Identifier: BSD-2-Clause
"""A warm source for the tests of what a device with a verbs agent can do.

Soft-RoCE, unless NIC in the environment says INTERFACE:AGENT-COMMAND: test_nic.py runs
the same tests so, through a packet socket.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.rxe import RxeSource
from roceproof.conformance.targets.verbs_source import VerbsSource
from roceproof.conformance.targets.verbs_target import VerbsTarget


@pytest.fixture(scope="session")
def source() -> Iterator[VerbsSource]:
    started = RxeSource()
    yield started
    started.close()


@pytest.fixture
def target(source: VerbsSource, request: pytest.FixtureRequest) -> Iterator[VerbsTarget]:
    with source.device(CasePlace(name=request.node.name, seed=1)) as device:
        assert isinstance(device, VerbsTarget)
        yield device
