# SPDX-License-Identifier: BSD-2-Clause
"""Faulty components of the model: a class that overrides what is wrong in it, and declares itself.

@faulty_rc_responder("msn-per-packet", expected=["MSN-02"])
class PerPacket(RcResponder):
    "Every packet counts."
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from roceproof.conformance.model.components import REQUESTERS, RESPONDERS, Components
from roceproof.conformance.mutants.wire import model_mutant
from roceproof.verbs.service import Service

T = TypeVar("T", bound=type[object])


class Declaration(Protocol):
    """A decorator of the faulty class."""

    def __call__(
        self, id: str, *, expected: Iterable[str], explained_as: Iterable[str] = ()
    ) -> Callable[[T], T]: ...


def faulty(components: Callable[[Any], Components]) -> Declaration:
    """A decorator of classes that stand in such components."""

    def declare(
        id: str, *, expected: Iterable[str], explained_as: Iterable[str] = ()
    ) -> Callable[[T], T]:
        def register(kind: T) -> T:
            def make() -> Components:
                return components(kind)

            make.__doc__ = kind.__doc__
            model_mutant(id, expected=expected, explained_as=explained_as)(make)
            return kind

        return register

    return declare


def _requester(service: Service) -> Declaration:
    return faulty(lambda kind: Components(requesters={**REQUESTERS, service: kind}))


def _responder(service: Service) -> Declaration:
    return faulty(lambda kind: Components(responders={**RESPONDERS, service: kind}))


faulty_rc_requester = _requester(Service.RC)
faulty_uc_requester = _requester(Service.UC)
faulty_ud_requester = _requester(Service.UD)
faulty_rc_responder = _responder(Service.RC)
faulty_uc_responder = _responder(Service.UC)
faulty_ud_responder = _responder(Service.UD)
faulty_ingress = faulty(lambda kind: Components(ingress=kind))
"""What a port checks of what arrives."""
faulty_egress = faulty(lambda kind: Components(egress=kind))
"""What surrounds the segments of a queue pair."""
faulty_connection_manager = faulty(lambda kind: Components(connection_manager=kind))
"""What a device says on QP1, and what it makes of what it hears there."""
