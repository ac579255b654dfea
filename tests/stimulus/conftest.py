# SPDX-License-Identifier: BSD-2-Clause
"""Devices for random stimulus: the endpoint at both widths, with a responder, and the model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from roceproof.common.paths import REFERENCE_DUT, RESPONDER_DUT
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.dpi.manifest.dut import load_manifest

sys.path.insert(0, str(Path(__file__).parent))  # for the helper module beside this file


@pytest.fixture(params=[64, 512])
def endpoint(request: pytest.FixtureRequest) -> HdlFactory:
    """The reference endpoint at both widths."""
    return HdlFactory(load_manifest(REFERENCE_DUT), data_width=request.param)


@pytest.fixture
def model() -> ModelFactory:
    """The reference model."""
    return ModelFactory()


@pytest.fixture(scope="module")
def responder() -> HdlFactory:
    """The endpoint with a responder."""
    return HdlFactory(load_manifest(RESPONDER_DUT), data_width=64)
