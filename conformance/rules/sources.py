# SPDX-License-Identifier: BSD-2-Clause
"""What confirms a rule: public documents, from sources.tsv; a rule without one is from memory."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from roceproof.conformance.rules.rows import rows_of
from roceproof.conformance.rules.table import RULES, Rule


class Kind(StrEnum):
    """How a document confirms a rule; the strongest first."""

    TEXT = "text"
    QUOTED = "quoted"
    TOLD = "told"


class Source(NamedTuple):
    """One document that confirms one rule; without a clause it says the same of its own accord."""

    kind: Kind
    clause: str | None
    document: str


class Status(StrEnum):
    """What is known of the law behind a rule."""

    CLAUSE = "confirmed, with its clause"
    TOLD = "confirmed, without its clause"
    MEMORY = "from memory"
    INVARIANT = "no clause: any correct device does this"


def sources_of(rule: Rule) -> list[Source]:
    """The documents that confirm it, the strongest first."""
    return SOURCES.get(rule.id, [])


def status_of(rule: Rule) -> Status:
    """What confirms it, in one word."""
    if not rule.clauses:
        return Status.INVARIANT
    kinds = {source.kind for source in sources_of(rule)}
    if not kinds:
        return Status.MEMORY
    return Status.TOLD if kinds == {Kind.TOLD} else Status.CLAUSE


def marked_anchor(rule: Rule) -> str:
    """Its clauses, with a check mark behind each that is public or quoted."""
    seen = {source.clause for source in sources_of(rule) if source.kind is not Kind.TOLD}
    return ", ".join(f"{each}✔" if each in seen else each for each in rule.clauses) or "-"


def _load() -> dict[str, list[Source]]:
    documents = {name: title for name, title in rows_of("documents.tsv")}
    found: dict[str, list[Source]] = {}
    for rule, source in _pairs(documents):
        assert rule in RULES, f"sources.tsv: {rule} is no rule"
        assert source.clause is None or source.clause in RULES[rule].clauses, (
            f"sources.tsv: {source.clause} is no clause of {rule}; rules.tsv has its anchor"
        )
        found.setdefault(rule, []).append(source)
    return {
        rule: sorted(each, key=lambda one: list(Kind).index(one.kind))
        for rule, each in found.items()
    }


def _pairs(documents: dict[str, str]) -> Iterator[tuple[str, Source]]:
    for kind, document, clause, rules in rows_of("sources.tsv"):
        source = Source(Kind(kind), None if clause == "-" else clause, documents[document])
        yield from ((rule, source) for rule in rules.split())


SOURCES: dict[str, list[Source]] = _load()
"""The documents, by rule, the strongest first."""
