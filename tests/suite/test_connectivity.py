# SPDX-License-Identifier: BSD-2-Clause
"""The first questions to a device: a healthy one passes them, a fault fails its own."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.wire import WireFault, WireMutant
from roceproof.conformance.runner import connectivity
from roceproof.conformance.runner.connectivity import check_connectivity, is_alive, told_first
from roceproof.conformance.runner.findings.ports import of_a_foreign_key, of_a_refusal
from roceproof.conformance.runner.findings.whole_run import said_of_one
from roceproof.conformance.runner.session.verdict import streams_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, DeviceDied
from roceproof.conformance.targets.model.device import ModelFactory, ModelTarget
from roceproof.conformance.targets.ping import ECHO_DATA, NUMBER
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.icmp import icmp_frame
from roceproof.dpi import load_manifest
from roceproof.dpi.session.streams import Standing
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op


class Mute(WireFault):
    """No RoCE frame leaves."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [] if parse(frame) else [frame]


class ShortUdp(WireFault):
    """The UDP length leaves its own header out."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        if packet is None:
            return [frame]
        return [
            frame[:38] + (int.from_bytes(frame[38:40], "big") - 8).to_bytes(2, "big") + frame[40:]
        ]


class Unsealed(Mute):
    """RoCE frames leave with a wrong ICRC, and nothing is heard."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [frame[:-1] + bytes((frame[-1] ^ 1,))] if parse(frame) else [frame]

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        return []


def outcomes(factory) -> dict[str, str]:
    return {check.name: check.outcome for check in check_connectivity(factory, seed=1)}


def test_a_healthy_device_passes_them_all() -> None:
    found = outcomes(ModelFactory())
    assert found == dict.fromkeys(("frame", "request", "ping", "back-pressure"), "passed")


def test_a_device_that_sends_datagrams_only_is_asked_for_one() -> None:
    factory = ModelFactory()
    claims = factory.claims
    connected = {Capability.RC, Capability.UC}
    factory.claims = replace(claims, capabilities=claims.capabilities - connected)
    assert outcomes(factory) == {
        "frame": "passed",
        "request": "skipped",
        "ping": "passed",
        "back-pressure": "passed",
    }


def test_behind_a_device_that_sends_nothing_nothing_more_is_asked() -> None:
    mute = CorruptingFactory(ModelFactory(), WireMutant("mute", "", (), (), make=Mute))
    (check,) = check_connectivity(mute, seed=1)
    assert (check.name, check.outcome) == ("frame", "failed")
    assert "want" in check.words


def test_a_message_without_the_payload_that_nobody_took_has_a_wrong_length(monkeypatch) -> None:
    class Empty(WireFault):
        def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
            packet = parse(frame)
            return [build(replace(packet, payload=b""))] if packet else [frame]

    monkeypatch.setattr(ModelTarget, "standing", lambda _: UP_TO_WORK | {"pl": WAITS})
    factory = CorruptingFactory(ModelFactory(), WireMutant("empty", "", (), (), make=Empty))
    (check,) = check_connectivity(factory, seed=1)
    told = "its packet has no payload, and none was taken: look at length of wr_i"
    assert check.words.startswith(told)


def test_what_fails_first_is_the_message_of_a_sender_and_the_request_of_another() -> None:
    assert told_first({"frame": "failed"}) == "message"
    assert told_first({"frame": "skipped", "request": "failed"}) == "request"


def test_a_wrong_icrc_is_told_before_what_follows_of_it() -> None:
    factory = CorruptingFactory(ModelFactory(), WireMutant("seal", "", (), (), make=Unsealed))
    (check,) = check_connectivity(factory, seed=1)
    assert check.words.startswith("its packet has a wrong ICRC: want ")
    assert check.broken[0].startswith("ICRC-")
    assert f"\naccuses {', '.join(check.broken[:3])}\n" in check.words


def test_how_an_icrc_is_made_wrong_is_explained_at_the_first_message() -> None:
    class Backwards(Unsealed):
        def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
            return [frame[:-4] + frame[:-5:-1]] if parse(frame) else [frame]

    factory = CorruptingFactory(ModelFactory(), WireMutant("back", "", (), (), make=Backwards))
    (check,) = check_connectivity(factory, seed=1)
    assert check.explained == "S26=S66"
    assert "\nexplain: S26=S66 the four result bytes" in check.words


def test_an_icrc_that_is_wrong_where_streams_are_stalled_alone_fails_there(monkeypatch) -> None:
    stalls: dict[str, int] = {}

    class Rushed(WireFault):
        def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
            return [frame[:-1] + bytes((frame[-1] ^ bool(stalls),))] if parse(frame) else [frame]

    monkeypatch.setattr(ModelTarget, "disturb", lambda _, **percent: stalls.update(percent))
    factory = CorruptingFactory(ModelFactory(), WireMutant("rushed", "", (), (), make=Rushed))
    *others, last = check_connectivity(factory, seed=1)
    assert [check.outcome for check in others] == ["passed"] * 3
    assert (last.name, last.outcome) == ("back-pressure", "failed")
    assert last.words.startswith("its packet has a wrong ICRC: want ")


def test_so_is_a_length_that_cannot_be() -> None:
    factory = CorruptingFactory(ModelFactory(), WireMutant("udp", "", (), (), make=ShortUdp))
    (check,) = check_connectivity(factory, seed=1)
    first = check.words.splitlines()[0]
    assert first == "its packet is malformed: UDP length disagrees with IP length"


@pytest.mark.parametrize("executed", [Op.WRITE, Op.SEND])
def test_what_only_answers_is_asked_for_that(executed: Op) -> None:
    healthy = ModelFactory()
    answers = frozenset({Capability.RC, Capability.RESPONDER})
    only = {"executes": {Service.RC: frozenset({executed})}, "capabilities": answers}
    healthy.claims = replace(healthy.claims, **only)
    found = outcomes(healthy)
    assert (found["frame"], found["request"]) == ("skipped", "passed")
    mute = CorruptingFactory(healthy, WireMutant("mute", "", (), (), make=Mute))
    checks = list(check_connectivity(mute, seed=1))
    assert [(check.name, check.outcome) for check in checks] == [
        ("frame", "skipped"),
        ("request", "failed"),
    ]
    assert not is_alive(checks)


def test_a_device_that_is_not_found_fails_only_that(monkeypatch) -> None:
    monkeypatch.setattr(ModelTarget, "ping", lambda *_, **__: False)
    assert outcomes(ModelFactory())["ping"] == "failed"


def test_a_ping_that_is_answered_with_a_wrong_checksum_is_told_so(monkeypatch) -> None:
    def ping(target: ModelTarget, peer: Host, *, timeout_ns: int) -> bool:
        reply = icmp_frame(target.host, peer, 0, bytes((0, NUMBER, 0, NUMBER)) + ECHO_DATA)
        target.asides = lambda: [reply[:36] + bytes(2) + reply[38:]]
        return False

    monkeypatch.setattr(ModelTarget, "ping", ping)
    failed = next(each for each in check_connectivity(ModelFactory(), seed=1) if each.words)
    assert failed.name == "ping"
    assert failed.words.startswith("ping is answered wrongly; icmp checksum: want ")


def test_a_death_is_told_and_what_sends_no_payload_is_not_asked() -> None:
    factory = ModelFactory()
    dying = ModelFactory()

    @contextmanager
    def device(place: CasePlace):
        raise DeviceDied("the simulation ended: tx withdrew a beat")
        yield

    dying.device = device
    (check,) = check_connectivity(dying, seed=1)
    assert "tx withdrew a beat" in check.words
    factory.claims = replace(factory.claims, capabilities=frozenset({Capability.RC}))
    assert outcomes(factory)["frame"] == "skipped"


NEVER, MOVED, WAITS = Standing(0), Standing(1), Standing(0, waits=True)
AMID = Standing(8, amid=True)
UP_TO_WORK = {"qpc": MOVED, "wr": MOVED, "pl": MOVED, "rx": NEVER, "tx": NEVER, "cpl": NEVER}


@pytest.mark.parametrize(
    ("other", "kind", "port"),
    [
        ({"qpc": WAITS, "wr": WAITS}, Kind.NO_PACKET, "qpc_ready_o"),
        ({"wr": WAITS, "pl": WAITS}, Kind.NO_PACKET, "wr_ready_o"),
        ({"pl": WAITS, "tx": AMID}, Kind.NO_PACKET, "pl_tready_o"),
        ({}, Kind.NO_PACKET, "tx_tvalid_o"),
        ({"tx": AMID}, Kind.NO_PACKET, "tx_tlast_o"),
        ({"tx": MOVED, "withdrawn": MOVED}, Kind.NO_PACKET, "tx_tuser_o"),
        ({"tx": MOVED, "left": MOVED}, Kind.NO_COMPLETION, "cpl_valid_o is low"),
        ({"tx": MOVED, "left": MOVED, "cpl": Standing(2)}, Kind.ASSERTION, "cpl_o tells"),
        ({"rcv": MOVED, "tx": MOVED, "cpl": MOVED}, Kind.NO_COMPLETION, "rcp_valid_o"),
        ({"rcv": WAITS}, Kind.NO_COMPLETION, "rcv_ready_o"),
        ({"wr": NEVER, "pl": NEVER, "rx": MOVED}, Kind.NO_PACKET, "look at memory"),
        ({"tx": MOVED, "left": MOVED}, Kind.WRONG_PACKET, None),
        ({"tx": MOVED, "left": MOVED, "cpl": MOVED}, Kind.ASSERTION, None),
    ],
)
def test_the_stream_that_does_not_move_is_told(other, kind: Kind, port: str | None) -> None:
    told = said_of_one(UP_TO_WORK | other, Stop(kind))
    assert told is None if port is None else port in told


class Deaf(ModelTarget):
    """It sends, and whatever it is sent is lost behind a stream that moves."""

    def send(self, frame: bytes) -> None:
        return None

    def standing(self) -> dict[str, Standing]:
        return UP_TO_WORK | dict.fromkeys(("rx", "tx", "left"), MOVED)


def test_a_device_to_which_frames_mean_nothing_is_told_so_and_no_completion_missed(
    monkeypatch,
) -> None:
    monkeypatch.setattr("roceproof.conformance.targets.model.device.ModelTarget", Deaf)
    (check,) = check_connectivity(ModelFactory(), seed=1)
    assert check.words.startswith("frames are taken and nothing comes of them")
    assert "rx_tuser_i" in check.words.splitlines()[0]


@pytest.mark.parametrize(
    ("got", "port"),
    [
        (bytes(8), "mwc_o.address"),
        (bytes(range(8, 0, -1)), "another order: look at the lanes of mwd_tdata_o"),
        (bytes([1, 2, 3, 0, 0, 0, 0, 0]), "3 of its 8 bytes: look at mwd_tkeep_o"),
    ],
)
def test_what_memory_holds_of_a_write_says_where_to_look(got: bytes, port: str) -> None:
    assert port in connectivity.told_of_memory(got, bytes(range(1, 9)))


def test_a_good_request_that_is_refused_says_where_to_look() -> None:
    refused = "syndrome: want ACK, got 0x62; msn: 0"
    assert "va, length and access of mr_i" in of_a_refusal(refused, {"reg", "rcv"})
    assert "va, length and access of [[region]]" in of_a_refusal(refused, {"rcv"})
    assert of_a_refusal("syndrome: want ACK, got 0x7f", {"reg"}) == ""
    assert of_a_refusal("syndrome: want 0x61, got 0x62", {"reg"}) == ""


@pytest.mark.parametrize(
    "taken",
    [
        "syndrome: want 0x62, got 0x1f",
        "syndrome: want 0x62, got ACK",
        "want NAK psn=+0 syndrome=0x62; got ACK psn=+0 syndrome=0x1f",
    ],
)
def test_where_keys_are_built_in_a_foreign_one_may_be_one_that_is_not_listed(taken: str) -> None:
    assert "no [[region]] lists" in of_a_foreign_key("RETH-06", taken, {"rcv"})
    assert of_a_foreign_key("RETH-06", taken, {"reg", "rcv"}) == ""
    assert of_a_foreign_key("RETH-06", taken.replace("0x62", "0x61"), {"rcv"}) == ""
    assert of_a_foreign_key("RETH-07", taken, {"rcv"}) == ""


@pytest.mark.sim
def test_of_a_device_that_stands_still_frames_and_streams_are_told(tmp_path) -> None:
    """The echo device sends what it is given as it is: no RoCE packet comes of it."""
    echo = HdlFactory(load_manifest(REPOSITORY / "dpi" / "test" / "dut.toml"))
    (check,) = check_connectivity(echo, seed=1, capture=lambda name: tmp_path / f"{name}.pcapng")
    assert (tmp_path / "frame.pcapng").stat().st_size
    told = check.words.splitlines()
    assert told[1:3] == ["accuses LIVE-01", f"capture: {tmp_path / 'frame.pcapng'}"]
    assert [line.split()[0] for line in told[4:]] == [
        *("streams", "rx", "pl", "qpc", "wr", "tx", "cpl"),
        *("frames", "1.408"),
    ]
    assert "8 beats, last in cycle 220: the device offers nothing: tx_tvalid_o is low" in told[9]


@pytest.mark.sim
def test_a_case_that_waits_in_vain_tells_the_streams_behind_its_frames() -> None:
    echo = HdlFactory(load_manifest(REPOSITORY / "dpi" / "test" / "dut.toml"))
    still = echo.device(CasePlace(name="still", seed=1))
    with still as target, pytest.raises(CaseFailed) as caught:
        Bench(target, echo.claims, seed=1).connect().transfer(Op.WRITE, 8)
    seen, streams = str(caught.value).split("\nstreams in cycle ")
    assert "frames seen:" in seen
    assert len(streams.splitlines()) == 7
    assert "streams" not in head_of(caught.value)
    assert streams_of(caught.value) == [
        f"streams in cycle {streams}".splitlines()[0],
        *streams.splitlines()[1:],
    ]
    assert streams_of(CaseFailed("want  this\nframes seen:")) == []
