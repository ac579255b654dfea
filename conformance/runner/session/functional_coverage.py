# SPDX-License-Identifier: BSD-2-Clause
"""Functional coverage of a session: each worker counts, the controlling process adds up."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from roceproof.conformance.coverage.collector import Collector
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.document import Coverage
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.runner.session.factories import factory_of, widths_asked
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.targets.interface import Claims, Target

NAME = "roceproof-reach"
_SENT = "roceproof_coverage"


class Reach:
    """Sits in every process of a session that was asked for coverage."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.counts = Counts()

    @contextmanager
    def watched(self, target: Target, claims: Claims, rules: Iterable[str]) -> Iterator[Target]:
        """A device for one case of these rules, seen by a collector."""
        collector = Collector(target, claims, self.counts)
        for group in {rule.partition("-")[0] for rule in rules}:
            self.counts.add("rules.group", group)
        yield collector.target
        collector.finish()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what a worker has counted; one that died has said nothing."""
        sent = getattr(node, "workeroutput", {}).get(_SENT)
        if sent is not None:
            self.counts.merge(Counts.from_json(json.loads(sent)))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send it to the controlling process, or write it down there."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_SENT] = json.dumps(self.counts.to_json())
        elif self._options.coverage is not None and not session.config.option.collectonly:
            self.document(session.config).write(self._options.coverage)

    def document(self, config: pytest.Config) -> Coverage:
        """All of it, with what the device claims at the widths of the session."""
        widths = widths_asked(self._options)
        claims = [factory_of(config, width).claims for width in widths]
        run = {
            "suite": self._options.suite,
            "seed": self._options.seed,
            "expression": config.option.keyword,
        }
        scope = Scope.of(claims)
        return Coverage(claims[0].target, claims[0].device, scope, [run], self.counts)


def reach_of(config: pytest.Config) -> Reach | None:
    """Who counts in this process, if anybody does."""
    found = config.pluginmanager.getplugin(NAME)
    return found if isinstance(found, Reach) else None
