# SPDX-License-Identifier: BSD-2-Clause
"""The `--roce-*` options: which target, which part of the suite, and what is kept."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from roceproof.common.paths import CASES, REFERENCE_DUT
from roceproof.conformance.runner.session.names import expression_for
from roceproof.conformance.runner.session.resume_journal import Over, cases_over
from roceproof.conformance.targets.interface import DeviceFactory, TargetError

TARGETS = ("hdl", "rxe", "nic", "model")
SUITES = ("smoke", "gate", "full", "long")
DEFAULT_CAPTURES = Path("build/conformance")


@dataclass(frozen=True, kw_only=True)
class Options:
    target: str
    dut: Path = REFERENCE_DUT
    widths: tuple[int, ...] = ()
    suite: str = "full"
    seed: int = 1
    captures: Path = DEFAULT_CAPTURES
    keep_all: bool = False
    keep_requests: bool = False
    show: bool = False
    waves: bool = False
    kernel: str | None = None
    interface: str | None = None
    agent: tuple[str, ...] = field(default=())
    mirror: str | None = None
    device_ip: str | None = None
    report: Path | None = None
    journal: Path | None = None
    resumed: int = 0
    coverage: Path | None = None
    code_coverage: Path | None = None
    mutant: str | None = None
    reached: Path | None = None
    cases: tuple[str, ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether frames are seen as a simulated device drives them; a mutant may lie between."""
        return self.target == "hdl" and self.mutant is None

    def cases_over(self) -> Mapping[str, Over]:
        """What came of the cases of the run that is taken up, by their node ids."""
        return cases_over(self.journal, self.resumed) if self.journal and self.resumed else {}

    def replay(self, nodeid: str) -> str:
        """The command that runs one case again."""
        words = self._words(self.cases)
        if self.suite == "long":
            words += ["--suite", "long"]
        return shlex.join([*words, "--seed", str(self.seed), "-k", expression_for(nodeid)])

    def replay_file(self, path: Path, width: int | None) -> str:
        """The command that runs a file with a case that was found."""
        of_width = ["--width", str(width)] if width else []
        return shlex.join([*self._words([os.path.relpath(path)]), *of_width])

    def _words(self, cases: Iterable[str]) -> list[str]:
        words = ["roceproof", "test", *cases, "--target", self.target]
        if self.dut != REFERENCE_DUT:
            words += ["--dut", os.path.relpath(self.dut)]
        if self.kernel:
            words += ["--kernel", self.kernel]
        if self.interface:
            words += ["--interface", self.interface]
        if self.agent:
            words += ["--agent", shlex.join(self.agent)]
        if self.mirror:
            words += ["--mirror", self.mirror]
        if self.device_ip:
            words += ["--device-ip", self.device_ip]
        if self.mutant:
            words += ["--mutant", self.mutant]
        return words


def session_arguments(target: str, *, root: Path = CASES) -> list[str]:
    """What every session of ours over a target begins with; it prints nothing by itself.

    All cases lie below `root`: by that pytest tells those apart that two files call alike.
    """
    return [
        *("-c", str(CASES / "pytest.ini"), "--rootdir", str(root)),
        *("-p", "no:terminal", "--roce-target", target),
    ]


def add_options(parser: pytest.Parser) -> None:
    """Declare them; they are inert until a target is named."""
    group = parser.getgroup("roceproof", "RoCEv2 conformance")
    add = group.addoption
    add("--roce-target", choices=TARGETS, help="what to test; without it the plug-in sleeps")
    add("--roce-dut", type=Path, help="manifest of the device (hdl); the reference if not given")
    add("--roce-width", type=int, action="append", help="data width (hdl); may be repeated")
    add("--roce-suite", choices=SUITES, default="full", help="which cases")
    add("--roce-seed", type=int, default=1, help="of all that cases draw")
    add("--roce-captures", type=Path, default=DEFAULT_CAPTURES, help="where captures go")
    add("--roce-keep-all", action="store_true", help="keep the captures of passing cases, too")
    add("--roce-keep-requests", action="store_true", help="keep what the device asks for (hdl)")
    add("--roce-show", action="store_true", help="show the packets of failures as Scapy does")
    add("--roce-waves", action="store_true", help="write waves of every case that runs (hdl)")
    add("--roce-kernel", help="version, newest or path of the guest's kernel (rxe)")
    add("--roce-interface", help="network interface (nic)")
    add("--roce-agent", help="command that starts the verbs agent beside the NIC (nic)")
    add("--roce-mirror", help="interface that gets a copy of what the device sends (nic)")
    add("--roce-device-ip", help="which of the device's addresses to use (nic)")
    add("--roce-report", type=Path, help="where to write results as JSON")
    add("--roce-journal", type=Path, help="where to note each case that is over")
    add("--roce-resumed", type=int, default=0, help="bytes of it that are of the run before")
    add("--roce-coverage", type=Path, help="where to write functional coverage as JSON")
    add("--roce-code-coverage", type=Path, help="folder for the simulator's coverage (hdl)")
    add("--roce-mutant", help="run against a planted fault, to see that cases find it")
    add("--roce-reached", type=Path, help="folder for which planted faults each case reaches (hdl)")


def read_options(config: pytest.Config) -> Options | None:
    """What was asked for, None if no target was."""
    get = config.getoption
    target = get("--roce-target")
    if target is None:
        return None
    agent = get("--roce-agent")
    return Options(
        target=target,
        dut=(get("--roce-dut") or REFERENCE_DUT).resolve(),
        widths=tuple(get("--roce-width") or ()),
        suite=get("--roce-suite"),
        seed=get("--roce-seed"),
        captures=get("--roce-captures"),
        keep_all=get("--roce-keep-all"),
        keep_requests=get("--roce-keep-requests"),
        show=get("--roce-show"),
        waves=get("--roce-waves"),
        kernel=get("--roce-kernel"),
        interface=get("--roce-interface"),
        agent=tuple(shlex.split(agent)) if agent else (),
        mirror=get("--roce-mirror"),
        device_ip=get("--roce-device-ip"),
        report=get("--roce-report"),
        journal=get("--roce-journal"),
        resumed=get("--roce-resumed"),
        coverage=get("--roce-coverage"),
        code_coverage=get("--roce-code-coverage"),
        mutant=get("--roce-mutant"),
        reached=get("--roce-reached"),
        cases=tuple(path for path in config.args if Path(path) != CASES),
    )


@cache
def widths_of(options: Options) -> tuple[int | None, ...]:
    """The data widths to test at: those asked for, else all of the manifest's."""
    if options.target != "hdl":
        return (None,)
    from roceproof.dpi.manifest.dut import load_manifest

    manifest = load_manifest(options.dut)
    unknown = set(options.widths) - set(manifest.data_widths)
    if unknown:
        raise TargetError(
            f"{manifest.name} has no width {min(unknown)}; its manifest says "
            f"{list(manifest.data_widths)}"
        )
    return options.widths or manifest.data_widths


def open_factory(options: Options, width: int | None) -> DeviceFactory:
    """Where devices come from. Nothing is built or booted yet."""
    if options.mutant:
        from roceproof.conformance.mutants.factory import mutant_factory

        return mutant_factory(options.mutant, target=options.target, width=width)
    if options.reached:
        from roceproof.conformance.mutants.rtl_factory import watched_factory

        return watched_factory(options.reached, data_width=width)
    if options.target == "hdl":
        from roceproof.conformance.targets.hdl.factory import HdlFactory
        from roceproof.dpi.manifest.dut import load_manifest

        manifest = load_manifest(options.dut)
        return HdlFactory(
            manifest, data_width=width, coverage=options.code_coverage, is_patient=False
        )
    if options.target == "model":
        if options.dut != REFERENCE_DUT:
            from roceproof.conformance.targets.model.limited import LimitedModelFactory
            from roceproof.dpi.manifest.dut import load_manifest

            return LimitedModelFactory(load_manifest(options.dut))
        from roceproof.conformance.targets.model.device import ModelFactory

        return ModelFactory()
    if options.target == "rxe":
        from roceproof.conformance.targets.verbs.rxe import RxeFactory

        return RxeFactory(options.kernel)
    from roceproof.conformance.targets.verbs.nic import NicFactory, NicOptions

    if not options.interface or not options.agent:
        raise TargetError("--target nic needs --interface and --agent; see docs/nic.md")
    return NicFactory(
        NicOptions(
            interface=options.interface,
            agent=options.agent,
            mirror=options.mirror,
            device_ip=options.device_ip,
        )
    )
