# SPDX-License-Identifier: BSD-2-Clause
"""PSNs compared as plain numbers are found on a device that holds one message at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roceproof.conformance.cases.test_requester_answers import (
    test_one_message_across_the_wrap_is_acknowledged as across_the_wrap,
)
from roceproof.conformance.model.components import Components
from roceproof.conformance.mutants.families.answers import ComparesWithoutWrap
from roceproof.conformance.mutants.faulty_requesters import made_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory


def run(parts: Components) -> None:
    source = ModelFactory(components=parts)
    limits = replace(source.claims.limits, outstanding_messages=1)
    with source.device(CasePlace(name="wrap", seed=1)) as target:
        across_the_wrap(Bench(target, replace(source.claims, limits=limits, qps=1), seed=1), 2)


def test_a_right_device_passes() -> None:
    run(Components())


def test_one_that_does_not_wrap_is_found() -> None:
    with pytest.raises(CaseFailed, match="completed with success\ngot   nothing"):
        run(made_of(ComparesWithoutWrap))
