# SPDX-License-Identifier: BSD-2-Clause
"""The ledger for the kernel's maintainers is whole: mails, findings, and what shows each."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from roceproof.conformance.kernels import ledger
from roceproof.conformance.kernels.ledger import SELFTEST, STATES, UPSTREAM, RootCause, root_causes
from roceproof.conformance.suite.limits.deviations import TABLE

CAUSES = root_causes()
MAILS = [cause for cause in CAUSES if cause.patches]
DEVIATIONS = tomllib.loads(TABLE.read_text())["deviation"]
NO_FIXES = {"short-mad"}


def test_there_is_a_line_for_each_root_cause_and_none_is_told_twice() -> None:
    assert len(CAUSES) >= 22
    assert len({cause.name for cause in CAUSES}) == len(CAUSES)
    assert all(cause.state in STATES and cause.owner and cause.severity for cause in CAUSES)


def test_every_deviation_that_is_no_matter_of_opinion_has_one_root_cause() -> None:
    explained = [name for cause in CAUSES for name in cause.explains]
    assert sorted(explained) == sorted(
        name for name, each in DEVIATIONS.items() if "arguable" not in each
    )


def test_each_mail_is_ready_for_who_sends_it(subtests: pytest.Subtests) -> None:
    for cause in MAILS:
        with subtests.test(cause.name):
            check_mail(cause)


def check_mail(cause: RootCause) -> None:
    text = cause.mail.read_text()
    head, _, patch = text.partition("\n---\n")
    prefix = r"\[(RFC )?PATCH rdma-\w+( \d/\d)?\] (RDMA/rxe|IB/mad): "
    assert re.search(rf"^Subject: {prefix}", head, re.MULTILINE)
    assert re.search(r"^To: .*leonro@nvidia\.com", head.replace("\n ", " "), re.MULTILINE)
    assert ("security@kernel.org" in head) == (cause.mail.parent.name == "private")
    assert ("linux-rdma@vger.kernel.org" in head) == (cause.mail.parent.name != "private")
    assert head.endswith("Signed-off-by: NAME OF THE SENDER <sender@example.org>")
    assert (cause.name in NO_FIXES) != bool(re.search(r'^Fixes: [0-9a-f]{12} \("', head, re.M))
    lines = head.partition("\n\n")[2].splitlines()
    assert all(len(line) <= 75 for line in lines if not line.startswith("Fixes: "))
    changed = re.findall(r"^\+\+\+ b/drivers/infiniband/(\S+)$", patch, re.MULTILINE)
    of_owner = "core/mad.c" if cause.owner == "core/mad.c" else "sw/rxe/rxe_"
    assert changed
    assert all(path.startswith(of_owner) for path in changed)


def test_the_selftest_is_a_mail_too() -> None:
    head, _, patch = SELFTEST.read_text().partition("\n---\n")
    assert re.search(r"^Subject: \[PATCH rdma-next\] selftests/rdma: ", head, re.MULTILINE)
    assert {"Shuah Khan", "linux-kselftest@vger"} <= set(
        re.findall(r"Shuah Khan|linux-kselft\w+@vger", head)
    )
    assert head.endswith("Signed-off-by: NAME OF THE SENDER <sender@example.org>")
    changed = re.findall(r"^\+\+\+ b/tools/testing/selftests/rdma/(\S+)$", patch, re.MULTILINE)
    assert {"Makefile", "config", "rxe_wire.c"} <= set(changed)
    subprocess.run(["git", "apply", "--numstat", SELFTEST], capture_output=True, check=True)


def test_each_patch_is_whole(subtests: pytest.Subtests) -> None:
    for cause in MAILS:
        with subtests.test(cause.name):
            command = ["git", "apply", "--numstat", *map(str, cause.patches)]
            subprocess.run(command, capture_output=True, check=True)


def test_a_patch_that_builds_on_another_names_it() -> None:
    behind = {cause.name: cause.behind.name for cause in CAUSES if cause.behind}
    assert behind == {
        "empty-read-again": "2-read-again.patch",
        "whole-reread": "1-partial-reread.patch",
        "posts-put-off-timeout": "1-rnr-wait.patch",
    }


def test_a_series_is_of_four_mails_at_most() -> None:
    for folder in {cause.mail.parent for cause in MAILS}:
        patches = sorted(path.name for path in folder.glob("*.patch"))
        assert 1 <= len(patches) <= 4
        assert set(patches) == {each.mail.name for each in MAILS if each.mail.parent == folder}


def test_a_report_is_precise() -> None:
    for cause in CAUSES:
        if cause.state == "report":
            text = cause.mail.read_text()
            assert "function" in text.lower()
            assert "()`" in text


def test_a_line_without_a_mail_is_refused(tmp_path: Path) -> None:
    lines = (UPSTREAM / "README.md").read_text().replace("[completer/1](completer/1", "(", 1)
    (tmp_path / "README.md").write_text(lines)
    with pytest.raises(ValueError, match="plain-ack has neither patch nor report"):
        ledger.root_causes(tmp_path / "README.md")
