# SPDX-License-Identifier: BSD-2-Clause
"""Loaded beside the suite's plug-in: the session's devices are drawn, one for each case."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

import pytest
from told_draw import with_draw
from unwarned import unwarned

from drawn.device import DrawnDevices
from drawn.habits import told_habits
from roceproof.common.paths import REPOSITORY
from roceproof.conformance.runner.session import factories
from roceproof.conformance.runner.session.names import short_name
from roceproof.conformance.suite.limits.skips import reason_to_skip
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.targets.model.device import ModelFactory


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Instead of the reference model."""
    seed = config.stash[factories.OPTIONS].seed
    devices = DrawnDevices(seed, ModelFactory().claims)
    config.stash[factories.FACTORIES] = {None: devices}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what the drawn device does not claim."""
    devices = factories.factory_of(config, None)
    assert isinstance(devices, DrawnDevices)
    for item in items:
        suits = partial(_suits, item)
        reason = reason_to_skip(item, devices.fit(short_name(item.nodeid), suits))
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Behind a failure stands what was drawn, and the command that draws it again."""
    report = unwarned((yield))
    if report.failed:
        seed = item.config.stash[factories.OPTIONS].seed
        devices = factories.factory_of(item.config, None)
        assert isinstance(devices, DrawnDevices)
        manifest, _, habits = devices.drawn(short_name(item.nodeid))
        _, _, test = item.nodeid.partition("::")
        case = f"{item.path.relative_to(REPOSITORY)}::{test}"
        replay = f"PYTHONPATH=tests/suite .venv/bin/python -m drawn --seed {seed} '{case}'"
        return with_draw(report, manifest, *told_habits(habits), replay=replay)
    return report


def _suits(item: pytest.Item, claims: Claims) -> bool:
    return reason_to_skip(item, claims) is None
