# SPDX-License-Identifier: BSD-2-Clause
"""Limits that a device has and its manifest does not say are told as that, with the line for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from test_one_cause import also, told
from test_root_findings import NO_PACKET, Session

from roceproof.conformance.runner.findings.bounds import BOUNDS
from roceproof.verbs.limit_table import LIMITS

Features = dict[str, Any]
ODD = {"rest": 1}
ONE, TWO, SIX = ({"open messages": n, "open packets": n, "open of all": n} for n in (1, 2, 6))


def session_of(passing: list[Features], failing: list[Features], trouble: str) -> Session:
    session = Session()
    for _ in range(3):
        for features in passing:
            session.add((features, ""))
        for features in failing:
            got = {} if trouble == NO_PACKET else {trouble.removeprefix("field "): "1"}
            session.add((features, trouble), got=got, head="wrong")
            also(session, failures=[])
    return session


@pytest.mark.parametrize(
    ("passing", "failing", "where", "line"),
    [
        ([ONE], [TWO, SIX], "behind another that is not complete", "outstanding_messages = 1"),
        (
            [ONE, TWO],
            [SIX],
            "behind 2 others that are not complete",
            "outstanding_messages = 2",
        ),
        (
            [TWO, TWO | {"open packets": 9}],
            [TWO | {"open packets": 12}],
            "with more than 9 packets of what is not complete",
            "outstanding_packets = 9",
        ),
        ([{"size": 1}], [{"size": 0, "empty": True}], "of no bytes", "length = [1, 2147483648]"),
        ([{"size": 3}, ODD], [{"size": 2}], "of less than 3 bytes", "length = [3, 2147483648]"),
        ([{"size": 4096}], [{"size": 4097}], "of more than 4,096 bytes", "length = [0, 4096]"),
        (
            [{"alignment": 8}],
            [{"alignment": 4}],
            "of a length that is no multiple of 8",
            "length_multiple = 8",
        ),
        ([{}], [{"queue pair": 1, "qp": 1}], "on any queue pair but the first", "qps = 1"),
        (
            [{"mtu": 512}, {}],
            [{"mtu": 4096}],
            "at path MTU 4096",
            "path_mtus = [256, 512]",
        ),
    ],
)
@pytest.mark.parametrize("trouble", [NO_PACKET, "field psn"])
def test_what_lies_beyond_all_that_passes_is_told_with_its_limit(
    passing: list[Features], failing: list[Features], where: str, line: str, trouble: str
) -> None:
    (finding,) = told(session_of(passing, failing, trouble))
    assert where in finding["sentence"]
    assert finding["manifest"] == [f"[limits] {line}"]


def test_work_of_all_queue_pairs_together_is_counted_where_that_alone_explains_it() -> None:
    few, many = {"open of all": 2}, {"open of all": 3}
    (finding,) = told(session_of([few], [many], NO_PACKET))
    assert "behind 2 others of any queue pairs that are not complete" in finding["sentence"]
    assert finding["manifest"] == [
        "[limits] outstanding_messages = 2",
        "[limits] outstanding_shared = true",
    ]


@pytest.mark.parametrize(
    "session",
    [
        lambda: session_of([ONE, SIX], [TWO], NO_PACKET),  # deeper ones pass
        lambda: session_of([], [TWO], NO_PACKET),  # nobody knows what passes
        lambda: session_of([ONE], [ONE], NO_PACKET),
    ],
)
def test_what_anything_that_passes_contradicts_is_no_limit(session: Callable[[], Session]) -> None:
    (finding,) = told(session())
    assert finding["manifest"] == []


def test_two_that_fail_beyond_are_no_evidence() -> None:
    session = session_of([ONE], [], NO_PACKET)
    for _ in range(2):
        session.add((TWO, NO_PACKET), head="wrong")
        also(session, failures=[])
    assert [finding["manifest"] for finding in told(session)] == [[]]


def refused(*heads: str, flushed: bool = False, sizes: tuple[int, ...] = (64,)) -> list[str]:
    session = Session()
    for size in sizes:
        session.add(({"size": size}, ""))
        also(session, flushed=flushed)
    for head in heads:
        session.add(({"size": 1 << 20}, ""), head=head)
        session.seen[max(session.seen)]["rows"].clear()
        also(session, failures=[[head, []]])
    (finding,) = told(session)
    return [line.removeprefix("[limits] ") for line in finding["manifest"]]


def test_a_length_that_the_device_refuses_by_itself_is_a_limit() -> None:
    owed = "want no such completion; owed: work 0x7 (WRITE of {} bytes, number 0) not sent"
    head = owed + "; got work 0x7 completed with loc_len_err, syndrome 0xff"
    assert refused(head.format(29169), sizes=(0, 4096)) == ["length = [0, 4096]"]
    assert refused(head.format(3), sizes=(4, 4096)) == ["length = [4, 2147483648]"]
    assert refused(head.format(400), sizes=(4, 4096)) == []
    assert refused(owed.format(29169)) == []


def test_flushed_work_that_never_completes_in_any_case_is_a_limit() -> None:
    head = "want  work 0x7 completed with wr_flush_err; got   nothing"
    assert refused(head) == ["flushes = false"]
    assert refused(head, flushed=True) == []


@pytest.mark.parametrize(
    ("field", "want", "line"),
    [
        ("rkey", ["8", "9"], 'per_queue_pair = ["rkey"]'),
        ("ident", ["8", "9"], 'identification = "constant"'),
        ("ident", ["8"], 'identification = "any"'),
    ],
)
def test_what_only_the_first_work_of_a_queue_pair_chooses_is_a_limit(
    field: str, want: list[str], line: str
) -> None:
    session = Session()
    for _ in range(3):
        session.add(({}, ""), ({"nth": 2}, f"field {field}"), got={field: "7"}, head="wrong")
        session.seen[max(session.seen)]["values"][field]["want"] = want
        also(session, failures=[])
        session.add(({}, ""))
    (finding,) = told(session)
    assert finding["manifest"] == [f"[limits] {line}"]


def test_an_identification_that_counts_in_one_case_is_not_constant() -> None:
    session = Session()
    for got in (["7"], ["7"], ["7", "8"]):
        session.add(({}, ""), ({"nth": 2}, "field ident"), got={"ident": "7"}, head="wrong")
        session.seen[max(session.seen)]["values"]["ident"] = {"got": got, "want": ["8", "9"]}
        also(session, failures=[])
        session.add(({}, ""))
    (finding,) = told(session)
    assert finding["manifest"] == ['[limits] identification = "any"']


def test_every_limit_that_can_be_waived_has_a_bound() -> None:
    beyond = {row.key for row in LIMITS if row.beyond}
    assert {bound.key for bound in BOUNDS} | {"path_mtus"} == beyond | {"outstanding_shared"}
