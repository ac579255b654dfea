# SPDX-License-Identifier: BSD-2-Clause
"""What a Soft-RoCE peer needs from the place it runs in."""

from typing import Protocol

from roceproof.rxe_env.client.channel import AgentChannel


class Backend(Protocol):
    """A place with a kernel that has rdma_rxe, the verbs agent in it and an Ethernet port out."""

    @property
    def name(self) -> str:
        """ "vm" or "native"."""

    @property
    def accel(self) -> str:
        """ "kvm", "tcg", or "none" where nothing is virtual."""

    @property
    def link(self) -> str:
        """The Ethernet port as the simulator's --link option takes it."""

    @property
    def ipv4(self) -> str:
        """The peer's address on that port."""

    @property
    def netns(self) -> str | None:
        """The network namespace that holds a TAP link, when it is not the caller's."""

    @property
    def channel(self) -> AgentChannel:
        """The conversation with the agent."""

    def console_tail(self) -> str:
        """Return the last lines that the place has to say for itself."""

    def held_up_ns(self) -> int:
        """Return for how long the place could have run and had no processor, as far as known."""

    def close(self) -> None:
        """End everything that was started and remove everything that was made."""
