# SPDX-License-Identifier: BSD-2-Clause
"""Faulty components of the model's receive side: a class that overrides what is wrong in it.

@faulty_rc_responder("msn-per-packet", "Every packet counts.", expected=["MSN-02"])
class PerPacket(RcResponder): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from roceproof.conformance.model.cm.manager import ConnectionManager
from roceproof.conformance.model.components import RESPONDERS, Components
from roceproof.conformance.model.egress import Egress
from roceproof.conformance.model.ingress import Ingress
from roceproof.conformance.model.responder.base import Responder
from roceproof.conformance.mutants.wire import model_mutant
from roceproof.verbs.service import Service

I = TypeVar("I", bound=type[Ingress])  # noqa: E741
E = TypeVar("E", bound=type[Egress])
C = TypeVar("C", bound=type[ConnectionManager])
R = TypeVar("R", bound=type[Responder])


def faulty_ingress(
    id: str, description: str, *, expected: Iterable[str], explained_as: Iterable[str] = ()
) -> Callable[[I], I]:
    """Declare what a port checks of what arrives."""

    def register(kind: I) -> I:
        declare = model_mutant(id, description, expected=expected, explained_as=explained_as)
        declare(lambda: Components(ingress=kind))
        return kind

    return register


def faulty_egress(id: str, description: str, *, expected: Iterable[str]) -> Callable[[E], E]:
    """Declare what surrounds the segments of a queue pair."""

    def register(kind: E) -> E:
        model_mutant(id, description, expected=expected)(lambda: Components(egress=kind))
        return kind

    return register


def faulty_rc_responder(
    id: str, description: str, *, expected: Iterable[str], explained_as: Iterable[str] = ()
) -> Callable[[R], R]:
    """Declare a responder of reliable connections."""
    return _responder(Service.RC, id, description, expected, explained_as)


def faulty_uc_responder(id: str, description: str, *, expected: Iterable[str]) -> Callable[[R], R]:
    """Declare a responder of unreliable connections."""
    return _responder(Service.UC, id, description, expected, ())


def faulty_ud_responder(id: str, description: str, *, expected: Iterable[str]) -> Callable[[R], R]:
    """Declare a responder of unreliable datagrams."""
    return _responder(Service.UD, id, description, expected, ())


def faulty_connection_manager(
    id: str, description: str, *, expected: Iterable[str]
) -> Callable[[C], C]:
    """Declare what a device says on QP1, and what it makes of what it hears there."""

    def register(kind: C) -> C:
        declare = model_mutant(id, description, expected=expected)
        declare(lambda: Components(connection_manager=kind))
        return kind

    return register


def _responder(
    service: Service,
    id: str,
    description: str,
    expected: Iterable[str],
    explained_as: Iterable[str],
) -> Callable[[R], R]:
    def register(kind: R) -> R:
        declare = model_mutant(id, description, expected=expected, explained_as=explained_as)
        declare(lambda: Components(responders={**RESPONDERS, service: kind}))
        return kind

    return register
