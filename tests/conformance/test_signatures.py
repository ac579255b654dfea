# SPDX-License-Identifier: BSD-2-Clause
"""The table of signatures names the code that decides each, and the diagnosis knows no other."""

from __future__ import annotations

import ast
import re

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.faults.catalogue import FAULTS
from roceproof.conformance.rules.signatures import SIGNATURES

DIAGNOSIS = REPOSITORY / "conformance" / "diagnosis"


def names_of(node: ast.stmt) -> set[str]:
    """What a statement at the top of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_each_names_the_code_that_decides_it(subtests: pytest.Subtests) -> None:
    for signature in SIGNATURES.values():
        with subtests.test(signature.id):
            module, _, name = signature.decides.partition(":")
            text = (DIAGNOSIS / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
            (node,) = [each for each in ast.parse(text).body if name in names_of(each)]
            code = ast.get_source_segment(text, node) or ""
            assert re.search(rf"\b{signature.id}\b", code), f"{signature.decides} is silent of it"


def test_no_diagnosis_knows_another() -> None:
    known = {
        each
        for path in DIAGNOSIS.rglob("*.py")
        for each in re.findall(r"\b[SP]\d\d\b", path.read_text(encoding="utf-8"))
    }
    assert known == set(SIGNATURES)


def test_each_is_planted_and_numbered_without_a_gap() -> None:
    assert set(FAULTS) == set(SIGNATURES)
    for kind in "SP":
        of_kind = [each for each in SIGNATURES if each[0] == kind]
        assert of_kind == [f"{kind}{number:02}" for number in range(1, len(of_kind) + 1)]
