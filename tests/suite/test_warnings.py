# SPDX-License-Identifier: BSD-2-Clause
"""A case that breaks a rule which is no must has passed, and is told."""

from __future__ import annotations

import pytest
from unwarned import unwarned

from roceproof.common.terminal import Terminal
from roceproof.conformance.mutants.factory import CorruptingFactory
from roceproof.conformance.mutants.wire import wire_mutants
from roceproof.conformance.regression.report import per_rule, print_warnings
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.runner.outcomes import NOT_REACHED, WARNING
from roceproof.conformance.runner.session.verdict import warned
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

HEAD = "want WRITE_ONLY psn=+0; got nothing"


def failed(broken: str, **more: str) -> pytest.TestReport:
    properties = [("broken", broken), ("head", HEAD), *more.items()]
    return pytest.TestReport(
        "a.py::a", ("a.py", 1, "a"), {}, "failed", "why", "call", user_properties=properties
    )


@pytest.mark.parametrize("broken", ["RTX-08", "RTX-08 UDP-08"])
def test_what_is_no_must_is_a_warning(broken: str) -> None:
    report = warned(failed(broken))
    assert (report.outcome, report.longrepr) == ("passed", None)
    assert dict(report.user_properties)[WARNING] == HEAD


@pytest.mark.parametrize(
    "report",
    [
        failed("RTX-08 LIVE-01"),
        failed("RTX-01"),
        failed(""),
        failed("RTX-08", **{NOT_REACHED: "x"}),
    ],
    ids=["with a must", "must", "of no rule", "not reached"],
)
def test_all_else_is_a_failure(report: pytest.TestReport) -> None:
    assert warned(report).outcome == "failed"


def test_a_warning_is_told_and_counts_below_a_failure(capsys) -> None:
    case = {"case": "a", "outcome": "passed", "rules": ["RTX-08"], "broken": ["RTX-08"]}
    warning = case | {WARNING: HEAD}
    print_warnings([case, warning], Terminal())
    assert capsys.readouterr().out == f"warning RTX-08: a: {HEAD}\n"
    print_warnings([warning, warning | {"case": "b", WARNING: "else"}], Terminal())
    assert capsys.readouterr().out == f"warning RTX-08 in 2 cases, the first is a: {HEAD}\n"
    failing = case | {"outcome": "failed"}
    assert per_rule({"cases": [case, warning]}) == [("RTX-08", WARNING, 2)]
    assert per_rule({"cases": [failing, warning]}) == [("RTX-08", "failed", 2)]


def test_a_device_that_is_right_may_not_even_be_warned() -> None:
    report = unwarned(warned(failed("RTX-08")))
    assert (report.outcome, report.longrepr) == ("failed", f"RTX-08: {HEAD}")
    report = pytest.TestReport("a.py::a", ("a.py", 1, "a"), {}, "passed", None, "call")
    assert unwarned(report).outcome == "passed"


def test_what_the_observer_holds_against_a_device_that_is_no_must_is_told() -> None:
    factory = CorruptingFactory(ModelFactory(), wire_mutants()["uc-asks-for-acks"])
    with factory.device(CasePlace(name="should", seed=1)) as target:
        bench = Bench(target, factory.claims, seed=1)
        qp = bench.connect(Service.UC)
        qp.post(Op.WRITE, 8)
        bench.settle()
        (failure,) = judge(bench)
    assert set(failure.rules) == {"UC-02"} and warned(failed("UC-02")).outcome == "passed"
