# SPDX-License-Identifier: BSD-2-Clause
"""What the measure of reach leaves of a random case: seeds that reach a fault, not made small."""

from __future__ import annotations

from typing import Any

import pytest

from roceproof.conformance.cases import test_requester_random, test_responder_random
from roceproof.conformance.matrix.reach import only
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory


@pytest.mark.parametrize("module", [test_requester_random, test_responder_random])
def test_a_random_case_tries_only_the_seeds_that_reach(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    factory, drawn, tried = ModelFactory(), list[int](), dict[int, float]()

    def note(seed: int, *_: Any, seconds: float, **__: Any) -> None:
        tried[seed] = seconds

    def all_of_them(seed: int, *_: Any, **__: Any) -> None:
        drawn.append(seed)

    with factory.device(CasePlace(name="reach", seed=1)) as target:
        monkeypatch.setattr(module, "try_seed", all_of_them)
        module.run(Bench(target, factory.claims, seed=1), 3)
        monkeypatch.setattr(module, "try_seed", only(note, drawn[1:]))
        module.run(Bench(target, factory.claims, seed=1), 3)
    assert tried == dict.fromkeys(drawn[1:], 0.0)
