# SPDX-License-Identifier: BSD-2-Clause
"""What a campaign finds of declared deviations is told by their names, and hides nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.cli.console.main import cli
from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.campaign.folder import Folder, read_entry
from roceproof.conformance.campaign.worker import Part, play
from roceproof.conformance.model.components import Components
from roceproof.conformance.model.responder.policy import (
    AfterRnr,
    LongSend,
    PlainSize,
    ResponderPolicy,
)
from roceproof.conformance.runner import plan_player
from roceproof.conformance.runner.known_deviations import KnownDeviations
from roceproof.conformance.runner.plan_player import PlanPlayer
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.suite.limits.seen_in_plans import load_sights, seen_in_plan
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace, DeviceDied, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.targets.verbs.rxe import RxeFactory

KERNEL = ("rxe", "6.1.0-56-amd64")
SIGHTS = {
    "rxe-short-packet-panics": (
        ["play.connect(key=0, ipv6=True)", "play.flawed(key=0, flaw='cut')"],
        "[ 5] RIP: 0010:__rxe_put+0xb/0x50 [rdma_rxe]; [ 5] Kernel panic - not syncing",
    ),
    "rxe-write-beyond-zero-dmalen-panics": (
        ["play.connect(key=0)", "play.region(key=0)", "play.request(key=0, bytes=8)"],
        "[ 5] RIP: 0010:rxe_mr_copy+0x49/0x1a0 [rdma_rxe]; [ 5] Kernel panic - not syncing",
    ),
    "rxe-retry-7": (["play.connect(key=3, ack_timeout=1)"], "want PSN +1; got RC SEND ONLY +0"),
    "rxe-duplicate-before-first": (
        ["play.connect(key=1)", "play.region(key=1)", "play.flawed(key=1, flaw='marked', psn=-9)"],
        "queue pair 1 (RC) at rest; want nothing more; got ACK psn=+8064345 syndrome=0x1f msn=0; "
        "to 1 frames since the last rest; 0 had come in this life before these",
    ),
    "rxe-ghost-ack": (
        ["play.connect(key=2)", "play.post(key=2)", "play.answer(key=2, flip=13)"],
        "want no completion; got work 1 completed",
    ),
    "rxe-rnr-nak-amid-message": (
        ["play.connect(key=0)", "play.post(key=0, size=2052)", "play.answer(key=0, syndrome=0x22)"],
        "want PSN +9 or PSN +8; got RC SEND FIRST +0",
    ),
    "rxe-reset-keeps-ack-psn": (
        ["play.connect(key=0)", "play.request(key=0)", "play.connect(key=0)", "play.late(key=0)"],
        "queue pair 0 (RC) at rest; want nothing more; got ACK psn=-6493271 syndrome=0x1f msn=0; "
        "to 1 frames since the last rest; 0 had come in this life before these",
    ),
    "rxe-last-too-early": (
        ["play.connect(key=1)", "play.request(key=1, op='WRITE_IMM', size=256, more=1024)"],
        "queue pair 1 (RC) at rest; want receives completed: 0xff40 success 256 0; got 0xff40 "
        "success 1280 0",
    ),
    "rxe-unpadded-send": (
        ["play.connect(key=0, service='UD')", "play.flawed(key=0, flaw='grown')"],
        "queue pair 0 (UD) at rest; more receives than were due have completed; want receives "
        "completed: none; got 0x1577f4070cf70152 success 49 None",
    ),
    "rxe-uc-message-behind-torn": (
        ["play.connect(key=0)", "play.request(key=0, op='SEND', size=777, stops=True)"],
        "queue pair 0 (UC) at rest; fewer receives than were due have completed; want receives",
    ),
    "rxe-uc-write-stays-stuck": (
        ["play.connect(key=0)", "play.request(key=0, size=777, stops=True)"],
        "queue pair 0 (UC) at rest; want other bytes from 0 on in the region of key 0x54633",
    ),
    "rxe-ud-short-receive-kills": (
        ["play.connect(key=1, service='UD')", "play.receive(key=1)", "play.request(key=1)"],
        "queue pair 1 (UD) at rest; more receives than were due have completed; want receives "
        "completed: none; got 0xbcc13c672f98ba loc_qp_op_err None None",
    ),
    "rxe-empty-write-first": (
        ["play.connect(key=0)", "play.request(key=0, size=1031, bytes=0, part=-1, more=-7)"],
        "queue pair 0 (RC) at rest; want NAK psn=+4 syndrome=0x61 msn=0; got ACK psn=+4 "
        "syndrome=0x1f msn=1; to frame 5 of 5 since the last rest, RC WRITE LAST at +4",
    ),
    "rxe-bad-response-succeeds": (
        ["play.connect(key=0)", "play.post(key=0)", "play.answer(key=0, syndrome=0x88)"],
        "want no completion; got work 1 completed",
    ),
    "rxe-read-depth-rounded": (
        ["play.connect(key=1, max_rd_atomic=3)", "play.post(key=1, op='READ', count=4)"],
        "want PSN +3; got RC READ REQUEST +3",
    ),
    "rxe-short-data-asked-again": (
        [
            "play.connect(key=1, max_rd_atomic=8)",
            "play.post(key=1, op='READ', size=1)",
            "play.respond(key=1, twist='short')",
            "play.post(key=1, op='READ', size=2723)",
        ],
        "va: want 0xa154, got 0; rkey: want 0, got 0xd613; dmalen: want 0xaa3, got 1; it has left "
        "before, otherwise",
    ),
    "rxe-plain-ack-completes-data": (
        ["play.connect(key=0)", "play.post(key=0, op='READ')", "play.answer(key=0, syndrome=9)"],
        "want no completion; got work 1 completed",
    ),
    "rxe-send-beyond-receive": (
        ["play.share()", "play.stock(is_short=True)", "play.turn(qp=2)"],
        "want NAK psn=+0 syndrome=0x61; got NAK psn=+0 syndrome=0x63 msn=0; syndrome: want 0x61",
    ),
}


class Kernel(ModelFactory):
    """The model as if it were a kernel whose deviations are declared."""

    def __init__(self, version: str = KERNEL[1], **policy: object) -> None:
        choices = ResponderPolicy(**policy)  # type: ignore[arg-type]
        super().__init__(components=Components(responder_policy=choices))
        self.claims = replace(
            self.claims, capabilities=self.claims.capabilities - {Capability.LOCKSTEP}
        )

        self._version = version

    def identity(self) -> tuple[str, str]:
        return "rxe", self._version


def asking(*steps: tuple[str, dict[str, object]]) -> Plan:
    return Plan(steps=tuple(Step(name, {"key": 0, **said}) for name, said in steps), player=Asking)


BEHIND_RNR = asking(
    ("connect", {"service": "RC"}),
    ("region", {}),
    ("region", {}),
    ("request", {"op": "SEND"}),
    ("request", {"op": "SEND"}),
)
TOO_LONG = asking(
    ("connect", {"service": "RC"}),
    ("region", {}),
    ("receive", {"size": 8}),
    ("request", {"op": "SEND", "size": 9}),
)
WRONG_SIZE = asking(
    ("connect", {"service": "RC"}),
    ("region", {}),
    ("receive", {"size": 900}),
    ("request", {"op": "SEND", "size": 600, "bytes": 100}),
)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Options]:
    """Options whose devices are those of the factory that a test is given."""
    factory = request.param
    monkeypatch.setattr(plan_player, "open_factory", lambda *_: factory)
    yield Options(target="model", dut=REFERENCE_DUT, kernel=str(id(factory)))


def both(**policy: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kernel", [Kernel(**policy)], indirect=True)


DECLARED = {"after_rnr": AfterRnr.SEQUENCE_NAK, "long_send": LongSend.OPERATIONAL}


@both(**DECLARED)
def test_a_deviation_that_the_model_can_play_is_known_by_its_name_and_hides_no_other(
    kernel: Options,
) -> None:
    player = PlanPlayer(kernel, None, seconds=9)
    found = player.play(1, BEHIND_RNR)
    assert found is not None and found.declared == "rxe-sequence-nak-behind-rnr"
    assert player.play(2, BEHIND_RNR) is None
    found = player.play(3, TOO_LONG)
    assert found is not None and found.declared == "rxe-send-beyond-receive"


NEWER = Kernel("6.12.117+deb12-amd64", plain_size=PlainSize.UNCHECKED)


@pytest.mark.parametrize("kernel", [NEWER], indirect=True)
def test_what_another_version_has_declared_is_a_finding(kernel: Options) -> None:
    player = PlanPlayer(kernel, None, seconds=9)
    for seed in (1, 2):
        found = player.play(seed, WRONG_SIZE)
        assert found is not None and found.declared is None
        assert "MTU-06" in found.rules and "rxe-unpadded-send" in found.may_be


@pytest.mark.parametrize("kernel", [NEWER], indirect=True)
def test_what_fails_as_a_declared_deviation_does_is_looked_at_again_now_and_then(
    kernel: Options,
) -> None:
    first = PlanPlayer(kernel, None, seconds=9).play(1, WRONG_SIZE)
    assert first is not None
    declared = {first.kind: "rxe-duplicate-before-first"}
    player = PlanPlayer(kernel, None, known=declared, declared=declared, seconds=9)
    for seed, deviation in ((63, declared[first.kind]), (64, None)):
        found = player.play(seed, first.plan)
        assert found is not None and found.declared == deviation
        assert found.kind != first.kind


@both(**DECLARED)
def test_a_campaign_tells_them_apart(kernel: Options, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    entries = tuple(folder.keep(plan) for plan in (BEHIND_RNR, TOO_LONG))
    part = Part(folder=tmp_path, options=kernel, width=None, first=1, count=2, entries=entries)
    assert play(part).found.total() == 2
    small = [len(read_entry(path).steps) for path in folder.entries()]
    assert small == [4, 4], "their small plans are entries in their stead"
    folder.begin({"device": "it", "mutant": None, "found": {}, "programs": 2})
    done = CliRunner().invoke(cli, ["fuzz", "report", str(tmp_path)])
    assert done.exit_code == 0 and "0 findings, 2 declared deviations" in done.output
    assert "declared rxe-sequence-nak-behind-rnr: " in done.output
    again = play(replace(part, entries=(folder.keep(BEHIND_RNR),)))
    assert (again.programs, again.found.total()) == (1, 0), "it is tolerated once it is known"


class Dying(Kernel):
    """It falls once."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = 0

    def device(self, place: CasePlace) -> Iterator[Target]:  # type: ignore[override]
        self.opened += 1
        if self.opened == 1:
            raise DeviceDied("RIP: 0010:somewhere+0x1")
        return super().device(place)  # type: ignore[return-value]


@pytest.mark.parametrize("kernel", [Dying()], indirect=True)
def test_a_death_is_told_though_it_is_not_seen_again(kernel: Options) -> None:
    found = PlanPlayer(kernel, None, seconds=9).play(1, TOO_LONG)
    assert found is not None and found.kind == "a panic in somewhere"
    assert found.plan == TOO_LONG and found.declared is None


@pytest.mark.parametrize("name", SIGHTS)
def test_a_small_plan_is_known_by_all_that_it_says(name: str) -> None:
    steps, head = SIGHTS[name]
    _, sights = load_sights()
    (player,) = {each.player for each in sights if each.deviation == name}

    def seen(steps: list[str], head: str, identity: tuple[str, str] = KERNEL) -> str | None:
        return seen_in_plan(identity, player=player, steps=steps, head=head)

    assert seen(steps, head) == name
    assert seen([*steps, "play.foreign(kind='arp')"], head) is None
    assert seen(steps, "want something else") is None
    assert seen(["play.connect(key=0, access=['local_write'])"], head) is None
    assert seen(steps, head, ("rxe", "5.10")) is None
    assert seen_in_plan(KERNEL, player="Nobody", steps=steps, head=head) is None


def test_every_entry_has_an_example() -> None:
    _, sights = load_sights()
    assert {each.deviation for each in sights} == SIGHTS.keys()


RECEIVES = "queue pair 0 (UD) at rest\nmore receives than were due have completed\n"


def test_of_receives_only_how_they_end_makes_a_kind() -> None:
    known = KnownDeviations(KERNEL, {})

    def kind(got: str) -> str:
        told = f"{RECEIVES}want  receives completed: none\ngot   {got}"
        return known.kind_of(CaseFailed(told, rules=["UD-05"]))

    one, flushed = "0x157 loc_qp_op_err None None", "0x158 wr_flush_err None None"
    assert kind(f"{one}; {flushed}") == kind(f"{one}; {flushed}; {flushed}") != kind(one)
    assert kind("0x157 success 49 None") != kind(one)


@pytest.mark.rxe
def test_a_real_guest_that_panics_is_one_finding_and_the_next_plan_has_another() -> None:
    player = PlanPlayer(Options(target="rxe", dut=REFERENCE_DUT), None, seconds=0)
    if not RxeFactory().identity()[1].startswith("6.1."):
        pytest.skip("only 6.1 panics")
    write = ("request", {"bytes": 8})
    panic = asking(("connect", {}), ("region", {}), write)
    found = player.play(1, panic)
    assert found is not None and found.kind == "a panic in rxe_mr_copy"
    assert "rxe-write-beyond-zero-dmalen-panics" in found.may_be
    assert player.play(2, asking(("connect", {}), ("region", {}), ("request", {"size": 8}))) is None
