# SPDX-License-Identifier: BSD-2-Clause
"""A device is given time to free what a case leaves behind: that is no fault of the case."""

from __future__ import annotations

from typing import Any

import pytest

from roceproof.conformance.targets.interface import DeviceDied, Patience
from roceproof.conformance.targets.verbs.device import VerbsDevice
from roceproof.conformance.targets.verbs.device_address import Address
from roceproof.rxe_env.client.verbs import Verbs
from roceproof.rxe_env.errors import PeerDied
from roceproof.verbs.addresses import Host

HOST = Host(bytes(6), bytes([10, 77, 0, 2]))


class SlowToFree(Verbs):
    """As Linux 6.12 on a busy host: ten seconds for `reset`, nothing for the rest."""

    def call(self, op: str, *, within: float = 5.0, **fields: Any) -> dict[str, Any]:
        if op == "reset" and within < 10:
            raise PeerDied(f"the peer did not answer '{op}' in time")
        return {}


class QuietWire:
    last_sent = b""

    def play(self, host: Host) -> None:
        pass

    def ask(self, *question: Any, timeout_ns: int) -> bool:
        return True

    def discard(self, is_stale: Any) -> None:
        pass

    def restart(self) -> int:
        return 0


def device() -> VerbsDevice:
    wire: Any = QuietWire()
    return VerbsDevice(
        "it",
        SlowToFree(),
        wire,
        addresses=[Address(HOST, 0)],
        tester=HOST,
        patience=Patience(answer_ns=1, quiet_ns=1),
        last_words=lambda: "",
        close=lambda: None,
    )


def test_a_device_that_is_slow_to_free_is_not_dead() -> None:
    device().clear()


def test_one_that_does_not_free_in_time_is() -> None:
    with pytest.raises(DeviceDied, match="did not answer 'reset' in time"):
        device().call("reset", within=9)
