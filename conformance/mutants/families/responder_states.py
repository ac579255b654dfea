# SPDX-License-Identifier: BSD-2-Clause
"""Responders with faults in what state they answer, and in what one of them leaves to another."""

from typing import Any

from roceproof.conformance.model.components import RESPONDERS, Components
from roceproof.conformance.model.ingress import Ingress, QueuePairView
from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.responder.rc import PendingNak, RcResponder
from roceproof.conformance.mutants.faulty import faulty_ingress
from roceproof.conformance.mutants.wire import model_mutant
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service


@faulty_ingress("rx-serves-any-state", expected=["QPS-01"])
class ServesAnyState(Ingress):
    """A queue pair answers as soon as it has a number."""

    def is_receiving(self, queue_pair: QueuePairView) -> bool:
        return queue_pair.state is not State.ERR


@faulty_ingress("rx-deaf-before-rts", expected=["QPS-02"])
class DeafBeforeRts(Ingress):
    """A queue pair answers when it may send, too."""

    def is_receiving(self, queue_pair: QueuePairView) -> bool:
        return queue_pair.state is State.RTS


class SharedMemory(Memory):
    """Memory beside which what belongs to one queue pair is kept for all."""

    def __init__(self) -> None:
        super().__init__()
        self.responders: list[RcResponder] = []
        self.pending: dict[int, PendingNak | None] = {}


@model_mutant("rc-nak-flag-survives", expected=["QPS-04"])
def nak_flag_survives() -> Components:
    """RESET does not clear the flag that a NAK was sent."""

    class Surviving(RcResponder):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            assert isinstance(self.memory, SharedMemory)
            self.flags = self.memory.pending
            self.pending_nak = self.flags.get(self.spec.local_qpn)

        def out_of_sequence(self) -> None:
            super().out_of_sequence()
            self.flags[self.spec.local_qpn] = self.pending_nak

    return Components(responders={**RESPONDERS, Service.RC: Surviving}, memory=SharedMemory)


@model_mutant("rc-opening-ends-messages", expected=["QPS-06", "FUZZ-16"])
def opening_ends_messages() -> Components:
    """Whoever sets up a queue pair clears the message state of all."""

    class Clearing(RcResponder):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            assert isinstance(self.memory, SharedMemory)
            for other in self.memory.responders:
                other.message = None
            self.memory.responders.append(self)

    return Components(responders={**RESPONDERS, Service.RC: Clearing}, memory=SharedMemory)


@model_mutant("rc-answers-in-error", expected=["QPS-03"])
def answers_in_error() -> Components:
    """A queue pair in the error state goes on to answer."""

    class Answering(RcResponder):
        def fail(self, *args: Any, **kwargs: Any) -> None:
            super().fail(*args, **kwargs)
            self.failed = False

    class Open(Ingress):
        def is_receiving(self, queue_pair: QueuePairView) -> bool:
            return queue_pair.state is State.ERR or super().is_receiving(queue_pair)

    return Components(responders={**RESPONDERS, Service.RC: Answering}, ingress=Open)
